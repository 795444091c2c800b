/** Whether the browser has WebGPU at all. Doesn't ask for an adapter, so there may still be no usable GPU. */
export const hasWebGpu = (): boolean => Boolean((navigator as Partial<Navigator>).gpu);
