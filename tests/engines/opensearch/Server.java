import org.codelibs.opensearch.runner.OpenSearchRunner;

/** Serves one node of OpenSearch from a directory: prints its address, and stops when standard input ends. */
public final class Server {
    public static void main(String[] arguments) throws Exception {
        try (OpenSearchRunner runner = new OpenSearchRunner()) {
            runner.build(OpenSearchRunner.newConfigs().numOfNode(1).basePath(arguments[0]));
            runner.ensureYellow();
            System.out.println("serving http://localhost:" + runner.node().settings().get("http.port"));
            System.in.read();
        }
        System.exit(0);
    }
}
