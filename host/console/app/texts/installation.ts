/** Texts of an installation, its settings and its list. */
export const installationTexts = {
  list: {
    title: 'Installations',
    one: 'Installation',
    what: 'Integrations that this organization has installed, with their state.',
    nothing: 'No integration is installed in this organization yet.',
    integration: 'Integration',
    all: 'All integrations',
    end: 'An installation stays until it is uninstalled.',
    columns: {
      state: 'State',
      integration: 'Integration',
      changed: 'Changed',
      id: 'Id',
    },
  },

  tabs: {
    label: 'Parts of the installation',
    settings: 'Settings',
    connection: 'Connection',
    permissions: 'Permissions',
    activity: 'Activity',
    log: 'Log',
  },
  inPlace: (title: string, place: string) => `${title} in ${place}`,
  unknownTab: 'This page has no such part. Choose one above.',
  back: 'To the installation',

  state: {
    active: 'Active: events reach the script.',
    waitsFor: (names: readonly string[]) =>
      `Waits for ${names.length === 1 ? 'the setting' : 'the settings'} ${list(names)}.`,
    setup: 'The script handles the setup event. The state changes here by itself.',
    above: 'Waits for the installation in the organization, which is not active yet.',
    paused: 'Paused: events wait for a resume, and the endpoint answers 503.',
    suspended: 'Suspended: the script ended its process again and again. Events wait for a resume.',
  },

  settings: {
    none: 'This version has no settings here.',
    elsewhere: 'Its settings are those of its sites and spaces, below.',
    required: 'Required',
    save: 'Save',
    saveOf: (name: string) => `Save ${name}`,
    discard: 'Discard',
    clear: 'Clear',
    clearOf: (name: string) => `Clear ${name}`,
    fromAccount: (value: string) => `From the organization: ${value}`,
    overridesAccount: (value: string) => `Here instead of the organization’s: ${value}`,
    secretOfAccount: 'The organization has a secret set. It is used while this field is empty.',
    fromDefault: (value: string) => `Default: ${value}`,
    on: 'On',
    off: 'Off',
    notSet: 'Not set',
    setOff: 'Set to off',
    noChoice: (value: string) => `${value} (no longer a choice)`,
    numberWrong: 'Write a number such as 200 or 1.5, with a point and without separators.',
    emptyText: '(empty text)',
    waitsHere: 'The installation waits for this setting.',
  },

  secret: {
    set: 'Set. It is not shown again.',
    notSet: 'Not set.',
    setIt: 'Set',
    replace: 'Replace',
    replaceOf: (name: string) => `Replace ${name}`,
    input: 'New value',
    show: 'Show what I type',
    mask: '[secret] is what Annex shows in the place of a secret. Type the secret itself.',
  },

  choices: {
    choose: 'Choose',
    chooseOf: (name: string) => `Choose ${name}`,
    search: 'Search',
    more: 'More choices',
    none: 'The script has no such choice.',
    typed: (text: string) => `Use “${text}” as it is`,
    stale: 'The script does not answer. This is the last label that it gave.',
    unconfirmed: 'No list of choices has had this value yet.',
    close: 'Close the choices',
  },

  saved: {
    running: 'Saved. The script handles the setup event.',
    answered: (ms: number) => `Saved · the script answered in ${ms.toLocaleString('en')} ms`,
    noHandler: 'Saved. The script has no handler for this event.',
    noScript: 'Saved.',
    unchanged: 'Saved. Nothing was different.',
    failed: 'Saved, but the script failed:',
    failedSilently: (outcome: string) => `the run ended with ${outcome}.`,
    held: 'Saved. The script gets the event when the installation is resumed.',
    late: 'Saved. No answer of the script is recorded yet: see the tab Log.',
    line: 'The script wrote',
    where: 'Where in the script',
  },

  conflict: {
    changed: 'Another person has changed this setting since you began.',
    secret:
      'Another person has changed settings since you began. Whether this secret is among them cannot be shown.',
    yours: 'Yours',
    theirs: 'Theirs',
    keepYours: 'Save mine',
    takeTheirs: 'Keep theirs',
    takeTheirsSecret: 'Keep what is stored',
    nothing: 'nothing',
  },

  component: {
    what: 'What the script asks for',
    done: 'The script has finished.',
  },

  stored: {
    title: 'Stored by the script',
    what: 'Values that the script, one of its components or an older version has stored here. They are not shown.',
    clear: (name: string) => `Clear ${name}`,
    cleared: (name: string) => `${name} was cleared.`,
    confirm: (name: string) => `Clear ${name}?`,
    warning: 'The script may need this value, for example to reach a service. It cannot be brought back.',
  },

  places: {
    title: 'Sites and spaces',
    what: 'Each has settings and a signing secret of its own.',
    none: 'It is installed in no site or space yet.',
    columns: { state: 'State', place: 'Where', kind: 'Kind', changed: 'Changed' },
    site: 'Site',
    space: 'Space',
  },

  connection: {
    title: 'Connection',
    what: 'The account at a provider that the script uses. Settings stay when it is made again.',
    none: 'This version connects to no provider here.',
    states: { none: 'Not connected', connected: 'Connected', expiring: 'Expires soon', broken: 'Broken' },
    as: 'Connected as',
    unnamed: 'The script does not name the account.',
    since: 'Since',
    expires: 'Expires',
    error: 'Last error',
    connect: 'Connect',
    again: 'Connect again',
    disconnect: 'Disconnect',
    disconnectOf: (name: string) => `Disconnect ${name}?`,
    disconnectWhat:
      'The credentials are deleted here. Settings stay. The provider may still list the access: end it there, too.',
    disconnected: 'Disconnected.',
    callback: 'Callback address',
    callbackWhat: 'Register exactly this address with the provider.',
    provider: 'Provider',
    otherHost: (here: string) =>
      `You opened Annex at ${here}. The provider sends the browser to the address above: is it yours, too? PUBLIC_URL decides it.`,
    loopback: 'Only browsers on this machine reach this address. Set PUBLIC_URL for others.',
    problem: 'The script cannot say where it leads:',
    waiting: 'Waiting for the pop-up window. This page notices when the connection is there.',
    openHere: 'Open it in this window instead',
    stop: 'Stop waiting',
    made: (account: string) => `Connected as ${account}.`,
    madeUnnamed: 'Connected.',
    heldNow: 'The provider has connected',
    heldBefore: 'The script still uses',
    heldUntil: 'until you say yes.',
    heldEnds: 'Without an answer the new account is deleted',
    accept: 'Use',
    refuse: 'Keep',
    refused: (account: string) => `${account} stays connected.`,
    toConnection: 'All about this connection',
  },

  permissions: {
    agreed: 'Agreed',
    agreedWhat: (version: number) => `Agreed with version ${version}.`,
    by: 'By',
    nothing: 'This version asks for nothing.',
    notRecorded: 'It was installed before agreements were recorded.',
    waiting: (version: number) => `Version ${version} waits`,
    waitingWhat: (from: number, to: number) =>
      `This installation runs version ${from} until an admin agrees to what version ${to} asks for beside it.`,
    asksFor: 'It asks for, beside what was agreed',
    newSettings: 'New settings',
    goneSettings: 'Settings that it no longer has',
    goneAsks: 'What it no longer asks for',
    agree: (version: number) => `Agree, and run version ${version}`,
    agreedNow: (version: number) => `Version ${version} runs now.`,
    upToDate: 'No version waits for your agreement.',
    ofInstallation: 'Permissions are agreed to once, for the whole organization.',
  },

  versions: {
    title: 'Version',
    runs: (version: number) => `Version ${version} runs here.`,
    pinned: 'It is pinned: new versions are loaded, and not deployed.',
    onlyOwner: 'The organization that owns the integration chooses its version.',
    columns: { number: 'Version', state: 'State', loaded: 'Loaded', actions: 'Actions' },
    states: { deployed: 'Deployed', loaded: 'In the folder', kept: 'Kept' },
    rollBack: 'Roll back',
    rollBackTo: (version: number) => `Roll back to version ${version}`,
    rollBackTitle: (title: string, version: number) => `Roll ${title} back to version ${version}?`,
    rollBackWhat: 'It is deployed for all organizations that have agreed to it, and pinned.',
    would: 'With it:',
    loses: (name: string) => `The setting ${name} is not there. Its value stays stored.`,
    gains: (name: string) => `The setting ${name} is there again.`,
    asksAgain: (sentence: string) => `It asks for again: ${sentence}`,
    asksNot: (sentence: string) => `It does not ask for: ${sentence}`,
    same: 'It asks for the same, and has the same settings.',
    cannot: 'It would break what works now, so Annex refuses it:',
    rolledBack: (version: number) => `Version ${version} is deployed and pinned.`,
    unpin: 'Unpin: deploy the version of the folder',
    unpinned: (version: number) => `Version ${version} is deployed.`,
  },

  log: {
    nothing: 'The script has logged nothing here yet.',
    kept: 'The newest 100 lines. Lines are kept for some days.',
    columns: { at: 'When', level: 'Level', text: 'Line', request: 'Request' },
    ofInstallation: 'Lines of the installation, with those of its sites and spaces.',
  },

  now: {
    title: 'What happens now',
    endpoint: 'Public endpoint',
    id: 'Id',
    installed: 'Installed',
    version: 'Version',
    lastRun: 'Last run of the script',
    noRun: 'none yet',
    run: (type: string, ms: number) => `${type}, ${ms.toLocaleString('en')} ms`,
    runFailed: (type: string, outcome: string) => `${type}: ${outcome}`,
    lastDelivery: 'Last delivery',
    noDelivery: 'none yet',
    all: 'All its deliveries',
    signInUrl: 'Visitors sign in at',
    scriptUrl: 'Script of the site',
  },

  signing: {
    title: 'Signing secret',
    what: 'It signs each webhook. It was shown once, when the integration was installed here.',
    rotate: 'Rotate the signing secret',
    rotateTitle: 'Rotate the signing secret?',
    rotateWhat:
      'Annex makes a new secret and shows it once. The old one signs too, for a day: receivers check both.',
    again: 'A rotation runs already. This replaces its new secret; the old one stays.',
    now: 'End the old secret at once. It is known to others.',
    until: 'The old secret signs too, until',
    end: 'End the old secret now',
    ended: 'The new secret signs alone.',
    newTitle: 'The new signing secret',
    newWhat: 'Copy it into your receiver now. It is not shown again.',
    copy: 'Copy the secret',
    have: 'I have copied it',
  },

  pause: {
    pause: 'Pause',
    resume: 'Resume',
    paused: 'Paused. Events wait.',
    resumed: 'Resumed. Waiting events are due.',
    notActive: 'Only an active installation can be paused.',
  },

  uninstall: {
    action: 'Uninstall',
    title: (what: string) => `Uninstall ${what}?`,
    goes: 'With it go, for good:',
    places: (count: number) =>
      count === 1
        ? '1 site or space that it is installed in'
        : `${count} sites and spaces that it is installed in`,
    settings: 'its settings, connections and signing secrets',
    storage: (keys: number) =>
      keys === 1
        ? '1 value that its script has stored'
        : `${keys.toLocaleString('en')} values that its script has stored`,
    deliveries: 'deliveries that are still pending',
    stays: 'Finished deliveries and logs stay until their time is over. The script gets one last event.',
    type: (name: string) => `Type ${name} to confirm`,
    label: 'Name',
    done: (what: string) => `${what} was uninstalled.`,
  },

  copy: {
    title: 'Copy settings',
    action: 'Copy settings from another place',
    from: 'From',
    what: 'Values there replace those here. Secrets and connections are not copied.',
    nothing: 'It has the same values.',
    submit: (count: number) => (count === 1 ? 'Copy 1 setting' : `Copy ${count} settings`),
    done: (count: number) => (count === 1 ? '1 setting was copied.' : `${count} settings were copied.`),
    columns: { name: 'Setting', here: 'Here', there: 'There' },
  },

  askAdmin: 'You read this. A person with another role changes it.',
} as const

function list(names: readonly string[]): string {
  const short = names.slice(0, 5)
  const more = names.length - short.length
  return short.join(', ') + (more > 0 ? ` and ${more} more` : '')
}
