"""No threads, no memory, or a fork at a bad moment: the same results, and no crash."""

import os
import subprocess
import sys
import sysconfig
import threading
from pathlib import Path

import numpy as np
import pytest

from rankwise import RankRLS, RankRLSCV, _native, config_context, threads
from rankwise.threads import map_on_threads

NATIVE = Path(__file__).parent.parent / "native"
needs_proc = pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="needs /proc")

# The allocations that make threads fail from the given one on; every chunk must still be done, once.
NO_MEMORY = """
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <new>
#include "kernels/parallel.hpp"

std::atomic<long> left{-1};

void* operator new(std::size_t size) {
    if (left >= 0 && left-- <= 0) throw std::bad_alloc();
    if (void* p = std::malloc(size)) return p;
    throw std::bad_alloc();
}
void operator delete(void* p) noexcept { std::free(p); }
void operator delete(void* p, std::size_t) noexcept { std::free(p); }

int main() {
    for (long granted = 0; granted < 12; ++granted) {
        std::atomic<int> done[100] = {};
        left = granted;
        rankwise::for_each_chunk(100, 8, [&](std::int64_t chunk) { ++done[chunk]; });
        left = -1;
        for (auto& times : done) if (times != 1) return 1;
    }
    std::puts("all done");
}
"""


def test_kernels_go_on_with_the_threads_there_are_when_memory_ends_while_one_is_made(tmp_path):
    (tmp_path / "no_memory.cpp").write_text(NO_MEMORY, encoding="utf-8")
    compiler = os.environ.get("CXX") or sysconfig.get_config_var("CXX").split()[0]
    build = [compiler, "-std=c++17", "-pthread", f"-I{NATIVE}", "no_memory.cpp", "-o", "no_memory"]
    subprocess.run(build, cwd=tmp_path, check=True)
    run = subprocess.run([tmp_path / "no_memory"], capture_output=True, encoding="utf-8")
    assert (run.returncode, run.stdout, run.stderr) == (0, "all done\n", "")


@needs_proc
def test_a_kernel_without_memory_raises_memory_error():
    script = """
import resource, numpy as np
from rankwise._native import LetorReader
text = np.frombuffer(b"1 qid:1 1:0.5\\n" * 2_000_000, dtype=np.uint8)
reader = LetorReader(min_index=0, max_index=9, single_precision=False)
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + (1 << 24), resource.RLIM_INFINITY))
try:
    reader.feed(text, 1)
except MemoryError:
    print("MemoryError")
"""
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, encoding="utf-8")
    assert (run.returncode, run.stdout) == (0, "MemoryError\n"), run.stderr


LITTLE_MEMORY = """
import resource, sys, threading, numpy as np
from rankwise import threads
from rankwise.threads import map_on_threads, one_blas_thread

if "no allocator" in sys.argv:
    threads._take_buffer = lambda path: False

def product(_):
    A = np.ones((200, 200))
    return (A @ A).sum(), threading.get_ident() == threading.main_thread().ident

with one_blas_thread():  # takes the memory that the calling thread needs
    used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + (int(sys.argv[1]) << 20), resource.RLIM_INFINITY))
    sums, in_main = zip(*map_on_threads(product, range(50)))
print({float(sum) for sum in sums} == {200.0**3}, all(in_main))
"""


def run_in_little_memory(megabytes, *options, **environment):
    """Whether the sums are right, and all computed in the main thread."""
    run = subprocess.run(
        [sys.executable, "-c", LITTLE_MEMORY, str(megabytes), *options],
        capture_output=True,
        encoding="utf-8",
        timeout=60,
        env=os.environ | {"RANKWISE_NUM_THREADS": "4"} | environment,
    )
    assert run.returncode == 0, run.stderr
    return run.stdout


@needs_proc
@pytest.mark.parametrize("megabytes, in_main", [(3, True), (30, True), (100, True), (1000, False)])
def test_threads_for_which_blas_has_no_memory_are_not_started(megabytes, in_main):
    """BLAS would end the process, or try again without end."""
    assert run_in_little_memory(megabytes) == f"True {in_main}\n"


# What each processor's kernels need; those of AVX-512 multiply small matrices without a buffer.
@needs_proc
@pytest.mark.parametrize(
    "kernels, needed", [("Prescott", "pni"), ("Haswell", "avx2"), ("SkylakeX", "avx512vl")]
)
def test_blas_has_its_buffers_with_the_kernels_of_any_processor(kernels, needed):
    if needed not in Path("/proc/cpuinfo").read_text(encoding="utf-8").split():
        pytest.skip(f"this processor lacks {needed}")
    assert run_in_little_memory(3, OPENBLAS_CORETYPE=kernels) == "True True\n"


@needs_proc
def test_a_product_takes_the_buffers_of_a_blas_that_hides_its_allocator():
    assert run_in_little_memory(3, "no allocator") == "True True\n"


def test_a_library_without_an_allocator_of_buffers_is_told_apart():
    assert not threads._take_buffer(_native.__file__)


@pytest.fixture
def give_threads(monkeypatch):
    """Makes a system that gives so many more threads and no other."""

    def give(number):
        start, given = threading.Thread.start, []

        def start_if_given(thread):
            if len(given) >= number:
                raise RuntimeError("can't start new thread")
            given.append(thread)
            start(thread)

        monkeypatch.setattr(threading.Thread, "start", start_if_given)

    return give


@pytest.mark.parametrize("number", [0, 1])
def test_work_is_done_in_the_calling_thread_where_no_other_can_be_made(give_threads, number):
    give_threads(number)
    with config_context(n_threads=3):
        assert list(map_on_threads(lambda number: number**2, range(50))) == [n**2 for n in range(50)]


@pytest.mark.parametrize("number", [0, 1, 3])
def test_errors_of_the_work_itself_are_passed_on(give_threads, number):
    give_threads(number)

    def fail(_):
        raise RuntimeError("the work's own")

    with config_context(n_threads=3), pytest.raises(RuntimeError, match="the work's own"):
        list(map_on_threads(fail, range(5)))


def test_rankers_give_the_same_bits_where_no_thread_can_be_made(give_threads):
    rng = np.random.default_rng(0)
    X, y, qid = rng.normal(size=(4000, 30)), rng.integers(0, 3, 4000), np.repeat(np.arange(400), 10)
    usual = [RankRLS(solver="primal").fit(X, y, qid), RankRLSCV(solver="primal").fit(X, y, qid)]
    give_threads(0)
    scarce = [RankRLS(solver="primal").fit(X, y, qid), RankRLSCV(solver="primal").fit(X, y, qid)]
    for one, other in zip(usual, scarce, strict=True):
        np.testing.assert_array_equal(one.coef_, other.coef_)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_fork_while_another_thread_limits_blas_leaves_the_child_able_to():
    """Twenty forks; the other thread is inside, or on its way in or out, at each of them."""
    script = """
import os, signal, threading
from rankwise import threads
from rankwise.threads import one_blas_thread

def keep_limiting():
    while not ended.is_set():
        with one_blas_thread():
            pass

with one_blas_thread():
    pass
ended = threading.Event()
threading.Thread(target=keep_limiting).start()
for number in range(20):
    inside = one_blas_thread(wanted=number % 2 == 0)
    inside.__enter__()
    child = os.fork()
    if child == 0:
        signal.alarm(10)
        with one_blas_thread():
            pass
        inside.__exit__(None, None, None)
        os._exit(3 if threads._limit._inside else 0)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    inside.__exit__(None, None, None)
    if code:
        break
ended.set()
print(code)
"""
    run = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", script], capture_output=True, encoding="utf-8", timeout=120
    )
    assert (run.stdout, run.returncode) == ("0\n", 0), run.stderr
