import org.apache.solr.client.solrj.embedded.JettySolrRunner;

/** Serves Solr from a home directory: prints its address, and stops when standard input ends. */
public final class Server {
    public static void main(String[] arguments) throws Exception {
        JettySolrRunner solr = new JettySolrRunner(arguments[0], "/solr", 0);
        solr.start();
        System.out.println("serving " + solr.getBaseUrl());
        System.in.read();
        solr.stop();
        System.exit(0);
    }
}
