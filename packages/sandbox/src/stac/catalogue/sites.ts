/** Where scenes are taken: longitude and latitude. Chosen to be awkward as well as interesting. */
export const sites: readonly (readonly [number, number])[] = [
  [2.35, 48.86], // Paris
  [10.9, 46.6], // Alps
  [-3.7, 40.4], // Madrid
  [-6.26, 53.35], // Dublin
  [24.9, 60.2], // Helsinki
  [30.9, 30.9], // Nile delta
  [36.8, -1.3], // Nairobi, the equator in reach
  [18.4, -33.9], // Cape Town
  [-123.1, 49.3], // Vancouver
  [-93.6, 42.0], // Iowa
  [-105.0, 39.7], // Denver
  [-80.2, 25.8], // Miami
  [-99.1, 19.4], // Mexico City
  [-60.0, -3.1], // Manaus
  [-70.7, -33.4], // Santiago
  [-47.9, -15.8], // Brasília
  [77.6, 12.97], // Bengaluru
  [90.4, 23.8], // Dhaka
  [103.8, 1.35], // Singapore
  [116.4, 39.9], // Beijing
  [139.7, 35.7], // Tokyo
  [151.2, -33.9], // Sydney
  [174.8, -36.8], // Auckland
  [0.1, 5.6], // Accra, the prime meridian in reach
  [179.95, -16.8], // Taveuni, Fiji: the antimeridian from the west
  [-179.9, -18.2], // Lau, Fiji: the antimeridian from the east
  [179.6, 51.9], // Aleutian islands
  [-179.7, 71.1], // Wrangel island
  [-40.0, 82.4], // Peary Land, Greenland
  [15.6, 78.2], // Svalbard
  [166.7, -77.5], // McMurdo, Antarctica
  [-68.3, -54.8], // Ushuaia
];

/** Sites in turn, with how many of `count` scenes each gets; the first ones take the rest. */
export function shareOut<Place>(
  places: readonly Place[],
  count: number,
): { place: Place; share: number }[] {
  return places.map((place, at) => ({
    place,
    share: Math.floor(count / places.length) + (at < count % places.length ? 1 : 0),
  }));
}
