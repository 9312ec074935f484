import type { Point } from '../geo/geometry.js';

/** A tile of Sentinel-2, in metres of its UTM zone. */
export interface Tile {
  readonly name: string;
  readonly zone: number;
  readonly south: boolean;
  readonly left: number;
  readonly top: number;
  readonly size: number;
}

/** A scene of Landsat's WRS-2 grid. */
export interface Frame {
  /** Path and row. */
  readonly name: string;
  readonly zone: number;
  readonly centre: Point;
  /** The direction of flight, clockwise from north. */
  readonly heading: number;
}

export interface Site {
  readonly place: Point;
  /** The tile at the place, and its eastern neighbour, which overlaps it. */
  readonly tiles: readonly Tile[];
  readonly frame: Frame;
}

/**
 * Where scenes are taken: on the equator, the prime meridian, both sides of the antimeridian, near the poles.
 * Longitude and latitude; two Sentinel-2 tiles, and the column and row of the first one's square in units of
 * 100 km; the WRS-2 path and row, its UTM zone, centre and heading.
 */
const table = `
     2.35  48.86 31UDQ 31UEQ 4 54 199026 31    2.29954348  48.67714088 194.96139029 Paris
     10.9   46.6 32TPS 32TQS 6 51 193027 32   11.00828769  47.25885511 194.69313233 Alps
     -3.7   40.4 30TVK 30TWK 4 44 201032 30   -3.84107596  40.14416067 193.66188508 Madrid
    -6.26  53.35 29UPV 29UQV 6 59 206023 29   -6.65802865  52.91935163 195.93487091 Dublin
     24.9   60.2 35VLG 35VMG 3 66 188018 35   25.07096858  59.92926884 198.36247814 Helsinki
     30.9   30.9 36RTV 36RUV 2 34 177038 36   30.74197718  31.57108496 192.89634591 Nile delta
     36.8   -1.3 37MBU 37MCU 2 98 168061 37   37.06748195  -1.43676882 192.05238967 Nairobi
     18.4  -33.9 34HBH 34HCH 2 62 175084 34   18.49711083 -34.43199689 193.13152062 Cape Town
   -123.1   49.3 10UDV 10UEV 4 54 047026 10 -122.85067111  48.67714088 194.96139029 Vancouver
    -93.6     42 15TVG 15TWG 4 46 026031 15  -92.99314196  41.56972496 193.83317676 Iowa
     -105   39.7 13SED 13SFD 5 43 033032 13 -104.27026051  40.14416067 193.66188508 Denver
    -80.2   25.8 17RNJ 17RPJ 5 28 015042 17  -80.43457922  25.84204539 192.56922224 Miami
    -99.1   19.4 14QMG 14QNG 4 21 026046 14  -98.80728805  20.10578338 192.34241892 Mexico City
      -60   -3.1 21MSS 21MTS 1 96 231062 20  -60.57860154  -2.87351886 192.05684088 Manaus
    -70.7  -33.4 19HCD 19HDD 3 63 233083 19  -70.71765693 -33.00188658 193.01922111 Santiago
    -47.9  -15.8 23LJC 23LKC 1 82 221071 23  -47.94767865 -15.80019927 192.23093771 Brasília
     77.6  12.97 43PGQ 43PHQ 7 14 144051 43   77.24859415  12.92862077 192.16284309 Bengaluru
     90.4   23.8 46QBM 46QCM 2 26 137043 46   90.71528521  24.40855970 192.50426689 Dhaka
    103.8   1.35 48NUG 48NVG 3  1 125059 48  104.11878415   1.43676882 192.05169464 Singapore
    116.4   39.9 50TMK 50TNK 4 44 123032 50  116.67394550  40.14416067 193.66188508 Beijing
    139.7   35.7 54SUE 54SVE 3 39 107035 54  140.09424936  35.86135274 193.22938701 Tokyo
    151.2  -33.9 56HLH 56HMH 3 62 089084 56  151.37264731 -34.43199689 193.13152062 Sydney
    174.8  -36.8 60HUE 60HVE 3 59 073086 60  175.26353157 -37.28988460 193.38758709 Auckland
      0.1    5.6 31NAG 31NBG 1  6 193056 30   -0.02267766   5.74688687 192.07128842 Accra
   179.95  -16.8 60KZG  60KG 8 81 073072  1 -179.60309741 -17.23565763 192.26746537 Taveuni
   -179.9  -18.2  1KAV  1KBV 1 79 073073  1 -179.93157363 -18.67086141 192.30813273 Lau
    179.6   51.9 60UXC 60UYC 6 57 085024 60  179.64342294  51.50762807 195.57906955 Aleutian islands
   -179.7   71.1  1WDU  1WEU 4 78 095010 60  179.59415781  70.80139151 206.74797072 Wrangel island
      -40   82.4 24XVS 24XWS 4 91 029001 24  -40.07940702  80.72234337 242.18077519 Peary Land
     15.6   78.2 33XWG 33XXG 5 86 214004 33   14.83798646  78.05935293 223.91956848 Svalbard
    166.7  -77.5 58CEU 58CFU 5 13 056115 58  166.42680451 -76.96986459 220.13930510 McMurdo
    -68.3  -54.8 19FEV 19FFV 5 39 226098 19  -67.60814403 -54.32834815 196.39210759 Ushuaia
`;

const SQUARE = 100_000;
/** Sentinel-2 tiles are 9.8 km larger than their squares and lie on a raster of 60 m. */
const TILE = 109_800;
const RASTER = 60;

export const sites: readonly Site[] = table.trim().split('\n').map(siteFrom);

function siteFrom(line: string): Site {
  const words = line.trim().split(/ +/);
  const text = (at: number): string => words[at] ?? '';
  const number = (at: number): number => Number(words[at]);
  return {
    place: [number(0), number(1)],
    tiles: [tileOf(text(2), number(4), number(5)), tileOf(text(3), number(4) + 1, number(5))],
    frame: { name: text(6), zone: number(7), centre: [number(8), number(9)], heading: number(10) },
  };
}

function tileOf(name: string, column: number, row: number): Tile {
  const [, zone = '', band = ''] = /^(\d+)([A-Z])/.exec(name) ?? [];
  return {
    name,
    zone: Number(zone),
    south: band < 'N',
    left: Math.floor((column * SQUARE) / RASTER) * RASTER,
    top: Math.ceil(((row + 1) * SQUARE) / RASTER) * RASTER,
    size: TILE,
  };
}

/** Divides `count` scenes among sites or tiles; the first ones take the remainder. */
export function shareOut<Place>(
  urls: readonly Place[],
  count: number,
): (readonly [place: Place, share: number])[] {
  const [even, rest] = [Math.floor(count / urls.length), count % urls.length];
  return urls.map((place, at) => [place, even + (at < rest ? 1 : 0)]);
}
