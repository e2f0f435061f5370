"""The parts of `benchmarks.bench_peers`, each a table of jobs done by rankwise and by a peer."""
