/**
 * Colours that stay readable whatever accent an operator configures: contrast as WCAG 2.2 defines it
 * (relative luminance), and the palettes that are derived from one accent for light and dark pages.
 */

export type Colour = readonly [red: number, green: number, blue: number];

export interface Palette {
  /** The accent as configured: fills the main button. */
  readonly accent: string;
  /** The same under the pointer. */
  readonly accentHover: string;
  /** Words on the accent. */
  readonly onAccent: string;
  /** The edge of what is filled with the accent, visible on every surface. */
  readonly accentEdge: string;
  /** Links, icons and focus rings: the accent, moved as far as needed to be read on every surface. */
  readonly accentInk: string;
  /** A breath of the accent, behind icons. */
  readonly accentTint: string;
}

const white: Colour = [255, 255, 255];
const black: Colour = [0, 0, 0];
const textContrast = 4.5;
const edgeContrast = 3;

/**
 * @param text `#rgb` or `#rrggbb`
 * @throws RangeError for anything else, so that nothing but a colour ever reaches the style sheet
 */
export function parseColour(text: string): Colour {
  const digits = /^#(?:[0-9a-f]{3}|[0-9a-f]{6})$/i.test(text) ? text.slice(1) : undefined;
  if (digits === undefined) throw new RangeError('a colour is written #rgb or #rrggbb');
  const pairs = (digits.length === 3 ? digits.replace(/./g, '$&$&') : digits).match(/../g) ?? [];
  const [red = 0, green = 0, blue = 0] = pairs.map((pair) => Number.parseInt(pair, 16));
  return [red, green, blue];
}

/** @returns `#rrggbb` */
export function formatColour(colour: Colour): string {
  return `#${colour.map((part) => Math.round(part).toString(16).padStart(2, '0')).join('')}`;
}

/** @returns 1 (the same) to 21 (black on white), WCAG 2.2 "contrast ratio" */
export function contrast(one: Colour, other: Colour): number {
  const [dark = 0, light = 0] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (light + 0.05) / (dark + 0.05);
}

/**
 * @param accent the configured colour
 * @param surfaces what it will stand on, all light or all dark
 */
export function paletteFor(accent: Colour, surfaces: readonly [Colour, ...Colour[]]): Palette {
  const onAccent = contrast(accent, white) >= textContrast ? white : black;
  const accentTint = mix(surfaces[0], accent, 0.1);
  return {
    accent: formatColour(accent),
    accentHover: formatColour(mix(accent, onAccent === white ? black : white, 0.14)),
    onAccent: formatColour(onAccent),
    accentEdge: formatColour(moveUntil(accent, edgeContrast, surfaces)),
    accentInk: formatColour(moveUntil(accent, textContrast, [...surfaces, accentTint])),
    accentTint: formatColour(accentTint),
  };
}

function luminance(colour: Colour): number {
  const [red = 0, green = 0, blue = 0] = colour
    .map((part) => Math.round(part) / 255)
    .map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function mix(from: Colour, to: Colour, share: number): Colour {
  return [
    from[0] + (to[0] - from[0]) * share,
    from[1] + (to[1] - from[1]) * share,
    from[2] + (to[2] - from[2]) * share,
  ];
}

/** The nearest shade of a colour, towards black or white, that stands out enough from all surfaces. */
function moveUntil(colour: Colour, least: number, surfaces: readonly Colour[]): Colour {
  const isDarkPage = surfaces.every((surface) => contrast(surface, white) > contrast(surface, black));
  const end = isDarkPage ? white : black;
  const steps = 50;
  for (let step = 0; step < steps; step++) {
    const shade = mix(colour, end, step / steps);
    if (surfaces.every((surface) => contrast(shade, surface) >= least)) return shade;
  }
  return end;
}
