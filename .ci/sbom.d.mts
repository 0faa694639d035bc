export declare function writeBillOfMaterials(folder: string): Promise<string>;
