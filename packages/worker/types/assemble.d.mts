/**
 * Writes the Worker to `worker/` and the widget with its model to `assets/` below a folder, and replaces what is there. A run that is
 * interrupted leaves the old files.
 *
 * @param folder created if it does not exist
 * @returns the number of static files and their bytes
 * @throws Error with a sentence for the user if a package is missing
 */
export function assemble(folder: string): Promise<{ files: number; bytes: number }>;
