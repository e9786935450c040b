/** The path under which the server shows this page: empty, or as `/posthorn`. The server fills it in. */
export const basePath: string =
  typeof document === "undefined"
    ? ""
    : (document.querySelector<HTMLMetaElement>('meta[name="posthorn-base"]')?.content ?? "");
