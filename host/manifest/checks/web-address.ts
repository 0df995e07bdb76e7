/** Links are shown to installers: `javascript:` and its like must not get there. */
export const isWebAddress = (text: string): boolean => /^https?:\/\/[^\s]/i.test(text) && URL.canParse(text)

/** Of the manifest's schema. */
export const formats = { uri: isWebAddress }
