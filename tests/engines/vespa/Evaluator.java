import com.yahoo.searchlib.rankingexpression.RankingExpression;
import com.yahoo.searchlib.rankingexpression.evaluation.DoubleValue;
import com.yahoo.searchlib.rankingexpression.evaluation.MapContext;
import com.yahoo.searchlib.rankingexpression.evaluation.StringValue;
import com.yahoo.searchlib.rankingexpression.evaluation.Value;
import com.yahoo.slime.Inspector;
import com.yahoo.slime.ObjectTraverser;
import com.yahoo.slime.SlimeUtils;
import com.yahoo.slime.Type;

/** Evaluates ranking expressions for documents, both given as JSON on standard input; null is NaN. */
public final class Evaluator {
    public static void main(String[] arguments) throws Exception {
        Inspector input = SlimeUtils.jsonToSlime(System.in.readAllBytes()).get();
        Inspector expressions = input.field("expressions"), documents = input.field("documents");
        for (int which = 0; which < expressions.entries(); which++) {
            RankingExpression expression = new RankingExpression(expressions.entry(which).asString());
            for (int place = 0; place < documents.entries(); place++) {
                MapContext context = new MapContext();
                ObjectTraverser put = (name, value) -> context.put(name, asValue(value));
                documents.entry(place).traverse(put);
                System.out.println(expression.evaluate(context).asDouble());
            }
        }
    }

    private static Value asValue(Inspector value) {
        if (value.type() == Type.STRING) return new StringValue(value.asString());
        return new DoubleValue(value.type() == Type.NIX ? Double.NaN : value.asDouble());
    }
}
