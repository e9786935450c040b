declare module "*.svg?url" {
  /** Where the file is. */
  const url: string;
  export default url;
}
