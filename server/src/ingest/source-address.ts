/** Where providers call a source; undefined where the setting `public_url` says nothing. */
export function sourceAddress(name: string, publicUrl: string | undefined): string | undefined {
  return publicUrl === undefined ? undefined : `${publicUrl}/in/${name}`;
}
