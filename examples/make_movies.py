"""Write the small data set of `rankwise.load_movies`: ``python examples/make_movies.py > movies.csv``.

The films are invented. Judges are simulated: they like films that have what a query names, more so if they
are good and known, and they sometimes disagree. The engine knows only the words of titles and plots.
"""

import csv
import math
import random
import sys

# Title, genre, minutes, and what it is about.
FILMS = """
The Lighthouse Keeper's Debt|mystery|104|lighthouse sea island debt storm
Salt and Thunder|adventure|131|sea storm sailor ship whale
A Small Boat Home|drama|97|sea island family sailor
Nine Minutes to Midnight|thriller|112|bomb clock train city
The Last Night Train|thriller|108|train winter spy murder
Steam and Sugar|comedy|92|train baker wedding
Bread for the Duke|comedy|101|baker castle king
The Baker of Orange Street|romance|99|baker city letter love
Love in the Slow Lane|romance|94|road love swimming
Letters from the Lake|romance|118|lake letter love war
The Quiet Lake|mystery|110|lake murder village winter
Village of Clocks|animation|86|village clock robot child
Tin Heart|animation|91|robot friendship child love
The Robot Gardener|science fiction|103|robot garden friendship
Orbit of Ashes|science fiction|137|space ship war
Two Sisters on Mars|science fiction|121|space sisters family survival
A Garden on the Moon|animation|88|space garden child
The Beekeeper's Daughter|drama|109|garden bees family village
Honey and Smoke|thriller|106|bees village fire debt
Paper Kings|comedy|95|king card game debt
The Card Player's Widow|drama|115|card game debt love
Heist at the Opera|comedy|107|robbery opera city
The Silver Robbery|thriller|119|robbery train silver
Old Men, Fast Cars|comedy|98|robbery road friendship
Desert Road|adventure|113|road desert survival
The Water Carrier|drama|124|desert village survival family
Caravan of Stars|adventure|129|desert king silver
The Mapmaker|adventure|117|map island ship silver
Where the Map Ends|documentary|84|map mountain survival
Snow on the Summit|documentary|90|mountain winter survival
The Mountain School|drama|102|mountain school child teacher
Miss Alder Teaches Chess|comedy|96|school teacher chess
Queen of the Back Rank|drama|111|chess sisters school
Checkmate in Prague|thriller|105|chess spy city
The Spy Who Baked|comedy|93|spy baker city
A Coat with Two Linings|thriller|116|spy letter war
Winter Orders|drama|133|war winter letter family
The Piano in the Snow|drama|122|piano war winter
Four Hands|romance|100|piano love teacher
The Deaf Composer's Dog|comedy|89|dog piano opera
Dog Days in Lisbon|comedy|91|dog city love
Runaway Kennel|animation|82|dog road friendship
The Shepherd's Whistle|documentary|79|dog mountain village
Ghosts of the Ferry|horror|98|ghost ship lake
The House That Waited|horror|103|ghost house family
Grandmother's Ghost|comedy|94|ghost family wedding
The Wedding Forecast|comedy|97|wedding storm family
Rain on the Bride|romance|105|wedding storm love
The Flood Year|drama|126|storm village survival
Whale Song|documentary|87|whale sea music
The Girl and the Whale|animation|90|whale child island
Island of Lost Songs|adventure|112|island music map
The Travelling Choir|comedy|101|music road friendship
Midnight Radio|drama|99|music city night
The Night Nurse|thriller|102|night hospital murder
Ward Number Seven|horror|95|hospital ghost night
The Surgeon's Apprentice|drama|128|hospital teacher war
House of Mirrors|mystery|107|house murder mirror
The Mirror Maker|drama|114|mirror castle love
Castle for Sale|comedy|93|castle ghost house
The King's Apprentice|adventure|120|king castle school
A Crown of Reeds|drama|134|king war lake
The Swimming Lesson|drama|92|swimming teacher friendship
Deep End|thriller|100|swimming murder night
Across the Strait|documentary|94|swimming sea survival
The Clockmaker's Code|mystery|111|clock code city
Code Name Sparrow|thriller|118|code spy bird
The Bird Watchers|comedy|90|bird friendship village
Wings over the Marsh|documentary|81|bird lake winter
The Firefighter|drama|116|fire city family
Ash Wednesday Girls|drama|108|fire sisters school
City of Kites|animation|85|city child bird
The Tailor's Gamble|comedy|96|card game wedding city
Silver Sisters|adventure|109|sisters silver robbery
The Long Harvest|drama|130|village family debt love
Stars above the Barn|romance|98|village love night
Night School|comedy|95|night school love
The Astronaut's Mother|drama|117|space family letter
Signal from the Ice|science fiction|114|winter space code survival
The Forgetting Machine|science fiction|123|robot memory love
Memory House|mystery|105|memory house letter
What the Dog Knew|mystery|99|dog murder village
"""

QUERIES = """
lighthouse storm|sea adventure|films about sailors|island family drama|train thriller
murder on a train|winter spy|baker comedy|love letter|romance by a lake|lake murder|village mystery
robot friendship|robot child|space war|space family|moon garden|sisters in space|bees
garden animation|card game debt|opera robbery|train robbery|silver robbery|road comedy
desert survival|desert king|treasure map|mountain documentary|mountain school|chess teacher
chess spy|spy comedy|spy letter|war winter drama|piano war|piano romance|dog comedy|dog friendship
dog village|ghost ship|ghost house|ghost wedding|wedding storm|wedding comedy|village flood
whale song|whale child|island music|music friendship|city night|night murder|hospital thriller
hospital ghost|murder mystery house|mirror|castle comedy|king castle|king war|swimming teacher
swimming sea|clock mystery|secret code|code spy|bird documentary|bird friendship|fire city
fire sisters|child animation|sisters adventure|family debt|village love|night love|school comedy
letter space|winter survival|robot love|lost memory|memory mystery|dog murder|sea survival
storm romance|comedy wedding card game|friendship road|city romance|baker love|ship adventure
island child|lake winter|war letter family|teacher friendship|school drama|house ghost comedy
king silver
"""

COLUMNS = [
    "query",
    "title",
    "grade",
    "title_match",
    "plot_match",
    "genre_match",
    "rating",
    "votes",
    "year",
    "minutes",
]
N_FILMS, CUTS = 10, (0.55, 1.05, 1.55, 2.1)


def words(text):
    return text.lower().replace(",", "").replace("'s", "").split()


def main():
    rng = random.Random(7)
    films = []
    for line in FILMS.strip().splitlines():
        title, genre, minutes, plot = line.split("|")
        rating = round(min(9.4, max(3.1, rng.gauss(6.6, 1.1))), 1)
        votes = int(math.exp(rng.gauss(8.5, 1.2) + 0.4 * (rating - 6.6)))
        films.append((title, genre, int(minutes), plot.split(), rating, votes, rng.randint(1962, 2025)))
    counts = {}
    for title, genre, _, plot, *_ in films:
        for word in {*words(title), genre, *plot}:
            counts[word] = counts.get(word, 0) + 1

    def weight(word):
        return math.log(1 + len(films) / (1 + counts.get(word, 0)))

    write = csv.writer(sys.stdout, lineterminator="\n").writerow
    write(COLUMNS)
    for query in QUERIES.replace("\n", "|").strip("|").split("|"):
        asked = [word for word in words(query) if word not in {"a", "on", "by", "in", "about", "films"}]
        ranked = []
        for film in films:
            title, genre, minutes, plot, rating, votes, year = film
            in_title = sum(weight(word) for word in asked if word in words(title))
            # A plot is described by most of what it is about, and by the genre where somebody thought of it.
            described = [word for word in plot if rng.random() < 0.75]
            in_plot = sum(weight(word) for word in asked if word in described)
            is_genre = any(word in genre.split() for word in asked)
            share = sum(word in plot or word in genre.split() for word in asked) / len(asked)
            known = 0.45 * (rating - 6.6) / 1.1 + 0.2 * (math.log(votes) - 8.5) / 1.2
            liked = 2.2 * share + (known if share else -0.4) + rng.gauss(0, 0.35)
            grade = sum(liked > cut for cut in CUTS)
            row = [round(in_title, 2), round(in_plot, 2), int(is_genre), rating, votes, year, minutes]
            ranked.append(
                (-(in_title + in_plot + 0.5 * is_genre + rng.random()), [query, title, grade, *row])
            )
        for _, row in sorted(ranked)[:N_FILMS]:
            write(row)


if __name__ == "__main__":
    main()
