import * as polyfill from 'urlpattern-polyfill/urlpattern'

/** URL Pattern standard, by urlpattern-polyfill. It finds the URL of this platform by way of bundled-globals.ts. */
export const { URLPattern } = polyfill
