/** Properties of the STAC specification and of common extensions, by prefix. */
const BY_PREFIX: Readonly<Record<string, string>> = {
  '': 'datetime start_datetime end_datetime created updated title description keywords license providers platform instruments constellation mission gsd published expires unpublished deprecated version',
  eo: 'cloud_cover snow_cover',
  view: 'off_nadir incidence_angle azimuth sun_azimuth sun_elevation moon_azimuth moon_elevation',
  sat: 'orbit_state relative_orbit absolute_orbit anx_datetime orbit_cycle platform_international_designator',
  sar: 'instrument_mode frequency_band center_frequency polarizations product_type observation_direction resolution_range resolution_azimuth pixel_spacing_range pixel_spacing_azimuth looks_range looks_azimuth looks_equivalent_number beam_ids',
  proj: 'epsg code wkt2 projjson geometry bbox centroid shape transform',
  processing: 'level facility software lineage version datetime',
  product: 'type timeliness timeliness_category acquisition_type',
  grid: 'code',
  mgrs: 'utm_zone latitude_band grid_square',
  sci: 'doi citation publications',
  s1: 'orbit_source product_timeliness processing_level instrument_configuration_ID datatake_id slice_number',
  s2: 'mgrs_tile product_type processing_baseline datatake_id tile_id granule_id nodata_pixel_percentage vegetation_percentage water_percentage snow_ice_percentage high_proba_clouds_percentage medium_proba_clouds_percentage thin_cirrus_percentage cloud_shadow_percentage dark_features_percentage not_vegetated_percentage unclassified_percentage saturated_defective_pixel_percentage degraded_msi_data_percentage',
  landsat:
    'wrs_path wrs_row wrs_type scene_id collection_category collection_number correction cloud_cover_land',
  naip: 'state year',
};

export const KNOWN_PROPERTIES: ReadonlySet<string> = new Set(
  Object.entries(BY_PREFIX).flatMap(([prefix, names]) =>
    names.split(' ').map((name) => (prefix === '' ? name : `${prefix}:${name}`)),
  ),
);

/** Top-level item members that searches can use like properties. */
export const ITEM_MEMBERS: ReadonlySet<string> = new Set([
  'id',
  'collection',
  'geometry',
  'bbox',
  'type',
  'stac_version',
  'stac_extensions',
  'links',
  'assets',
  'properties',
]);
