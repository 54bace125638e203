"""The trips of a city's rented bicycles, as three tables of Parquet: invented open data.

The same number of trips and the same last day make the same data.
"""

from datetime import date
from pathlib import Path
from typing import Final

import duckdb

TRIPS: Final = 500_000
YEARS: Final = 2

_STATIONS: Final[dict[str, tuple[str, ...]]] = {
    "Old Town": ("Cathedral Square", "Town Hall", "Fish Market", "Clock Tower", "Castle Gate"),
    "Riverside": ("Central Station", "Ferry Pier", "Iron Bridge", "Boat House", "River Walk"),
    "University": ("Main Library", "Science Campus", "Botanical Garden", "Student Union"),
    "Harbour": ("Lighthouse", "Container Quay", "Shipyard", "Sailing Club"),
    "Northside": ("North Gate", "Stadium", "Hospital North", "Brewery Yard", "Tram Depot"),
    "Westpark": ("West Park", "Zoo Entrance", "Rose Garden", "Tennis Courts"),
    "Southfield": ("Airport Road", "Exhibition Centre", "South Market", "Swimming Hall"),
    "Hillside": ("Observatory", "Water Tower", "Vineyard Steps"),
}
"""The stations of each district."""

# Every figure is taken from a hash of the trip's number and a word for what it is about, so
# that the order in which DuckDB works does not matter.
_MACROS: Final = """
CREATE MACRO chance(i, what) AS (hash(i, what) % 1000000) / 1000000.0;
CREATE MACRO uneven(i, what) AS pow(chance(i, what), 1.3);
"""
_DAYS: Final = """
CREATE TABLE days AS
SELECT day,
       CASE WHEN wet < 0.22 THEN 'rain' WHEN wet < 0.27 AND warmth < 3 THEN 'snow'
            WHEN wet < 0.6 THEN 'clouds' ELSE 'sun' END AS weather,
       round(warmth, 1) AS temperature_c,
       round(CASE WHEN wet < 0.27 THEN 1 + 18 * chance(number, 'amount') ELSE 0 END, 1)
           AS rain_mm
FROM (
    SELECT CAST($last AS DATE) - CAST(number AS INTEGER) AS day, number,
           chance(number, 'wet') AS wet,
           11 - 11 * cos(2 * pi() * (dayofyear(CAST($last AS DATE) - CAST(number AS INTEGER)) - 20)
               / 365) + 8 * (chance(number, 'warm') - 0.5) AS warmth
    FROM range($days) AS each (number)
)
ORDER BY day
"""
_TRIPS: Final = """
CREATE TABLE trips AS
WITH weighed AS (
    SELECT day,
           sum((1 + temperature_c / 20)
               * CASE weather WHEN 'rain' THEN 0.55 WHEN 'snow' THEN 0.3 WHEN 'sun' THEN 1.2
                      ELSE 1 END
               * CASE WHEN isodow(day) > 5 THEN 0.8 ELSE 1 END)
           OVER (ORDER BY day) AS until
    FROM days
), shares AS (
    SELECT day, until / max(until) OVER () AS until FROM weighed
), drawn AS (
    SELECT number, chance(number, 'day') AS point,
           CAST(1 + floor($stations * uneven(number, 'from')) AS INTEGER) AS start_station_id,
           CAST(1 + floor($stations * uneven(number, 'to')) AS INTEGER) AS end_station_id,
           CASE WHEN chance(number, 'who') < 0.68 THEN 'member' ELSE 'casual' END AS rider_type,
           CASE WHEN chance(number, 'bike') < 0.37 THEN 'electric'
                WHEN chance(number, 'bike') < 0.41 THEN 'cargo' ELSE 'classic' END AS bike_type,
           CASE WHEN chance(number, 'peak') < 0.3 THEN 7 + 3 * chance(number, 'hour')
                WHEN chance(number, 'peak') < 0.65 THEN 16 + 3 * chance(number, 'hour')
                ELSE 6 + 17 * chance(number, 'hour') END AS hour,
           chance(number, 'long') AS long
    FROM range($trips) AS each (number)
), placed AS (
    SELECT drawn.*, shares.day,
           round(CASE rider_type WHEN 'member' THEN 4 + 22 * pow(long, 1.6)
                 ELSE 6 + 60 * pow(long, 2.2) END, 1) AS duration_min
    FROM drawn ASOF JOIN shares ON drawn.point <= shares.until
)
SELECT row_number() OVER (ORDER BY day, hour, number) AS trip_id,
       day + to_seconds(CAST(floor(hour * 3600) AS BIGINT)) AS started_at,
       day + to_seconds(CAST(floor(hour * 3600 + duration_min * 60) AS BIGINT)) AS ended_at,
       start_station_id, end_station_id, rider_type, bike_type, duration_min,
       round(duration_min / 60 * CASE bike_type WHEN 'electric' THEN 17 WHEN 'cargo' THEN 12
             ELSE 14 END * (0.8 + 0.4 * chance(number, 'speed')), 2) AS distance_km,
       CASE rider_type WHEN 'member' THEN round(greatest(0, duration_min - 15) * 0.1, 2)
            ELSE round(1 + duration_min * CASE bike_type WHEN 'classic' THEN 0.12
                       ELSE 0.2 END, 2) END AS fare_eur
FROM placed
ORDER BY trip_id
"""


def make_rides(folder: Path, last_day: date, trips: int = TRIPS) -> None:
    """Write `trips`, `stations` and `days` into a folder, as they are on the last day."""
    folder.mkdir(parents=True, exist_ok=True)
    with duckdb.connect() as made:
        made.execute(_MACROS)
        made.execute(
            "CREATE TABLE stations (station_id INTEGER, name TEXT, district TEXT, docks INTEGER)"
        )
        named = [(name, district) for district, names in _STATIONS.items() for name in names]
        # The busiest stand first, and not all of one district.
        for number, (name, district) in enumerate(sorted(named, key=_shuffled), 1):
            docks = 12 + 4 * (_shuffled((name, district)) % 7)
            made.execute(
                "INSERT INTO stations VALUES (?, ?, ?, ?)", [number, name, district, docks]
            )
        made.execute(_DAYS, {"last": last_day.isoformat(), "days": YEARS * 365})
        made.execute(_TRIPS, {"trips": trips, "stations": len(named)})
        for table in ("stations", "days", "trips"):
            unfinished = folder / f".{table}.unfinished"
            made.execute(f"COPY {table} TO '{_quoted(unfinished)}' (FORMAT parquet)")
            unfinished.replace(folder / f"{table}.parquet")


def _shuffled(station: tuple[str, str]) -> int:
    return sum(ord(letter) * at for at, letter in enumerate("".join(station), 3)) % 97


def _quoted(path: Path) -> str:
    return str(path).replace("'", "''")
