import { implementTool } from '@toolkeel/contract';
import { sensors } from '../size/sensors.js';
import { getSensorRegistryInfoSpec } from './specs/get-sensor-registry-info.js';

export const getSensorRegistryInfo = () =>
  implementTool(getSensorRegistryInfoSpec, {
    handler: async () => ({ count: sensors.length, sensors: sensors.map(listed) }),
  });

function listed({ collection, data_type, assets }: (typeof sensors)[number]) {
  return { collection, data_type, ...(assets && { assets: { ...assets } }) };
}
