import type { OperationId } from '../../../schemas/generated/api/operations.ts'
import type { Place } from './world.ts'

/** The facts of an operation that its schema does not say. */
export type Row = {
  /** Default: the example of the schema. */
  body?: (params: Place['params']) => unknown
  /** A caller who may call it may get a 404: the example names a record that is not there, or it is gone after the first call. */
  mayBeAbsent?: true
  /** Any token may read it where it is public. */
  isPublic?: true
  /** A call would take a record away from the other cells: only refused cells are run. Another test has the others. */
  ends?: true
}

const plain: Row = {}
const absent: Row = { mayBeAbsent: true }
const ends: Row = { ends: true }
const onSite: Row = { body: ({ site }) => ({ site }) }
const onSpace: Row = { body: ({ space }) => ({ space }) }

/** Each operation of the API. The types fail without a row for a new one. */
export const rows: Record<OperationId, Row> = {
  // content
  getCurrentRevision: plain,
  listPages: plain,
  getPageById: plain,
  putPage: { body: () => ({ title: 'Hello', markdown: '# Hello\n' }) },
  deletePage: absent,
  listRevisions: plain,
  getRevisionById: plain,
  listPagesInRevisionById: plain,
  getPageInRevisionById: plain,
  getRevisionSemanticChanges: plain,
  // deliveries, receivers, jobs, events
  listDeliveries: plain,
  followDeliveries: plain,
  sendFailedDeliveries: plain,
  getDelivery: plain,
  sendDelivery: plain,
  listReceivers: plain,
  getReceiver: plain,
  updateReceiver: plain,
  pauseReceiver: plain,
  resumeReceiver: plain,
  sendExampleEvent: plain,
  listJobs: plain,
  getJob: plain,
  runJob: plain,
  discardJob: plain,
  publishEvent: {
    body: ({ site }) => ({ type: 'site_view', siteId: site, url: 'https://a.example/', visitor: {} }),
  },
  // dispatches
  renderInstallationComponent: absent,
  computeInstallationRevision: absent,
  computeInstallationDocument: absent,
  renderSiteInstallationComponent: absent,
  computeSiteInstallationRevision: absent,
  computeSiteInstallationDocument: absent,
  renderSpaceInstallationComponent: absent,
  computeSpaceInstallationRevision: absent,
  computeSpaceInstallationDocument: absent,
  getPublishedScript: plain,
  authenticateVisitor: plain,
  // connections: the integration of the matrix has no setting to connect
  connectInstallation: absent,
  connectInstallationSetting: absent,
  connectSiteInstallation: absent,
  connectSiteInstallationSetting: absent,
  connectSpaceInstallation: absent,
  connectSpaceInstallationSetting: absent,
  openConnectLink: plain,
  // installations
  listInstallations: plain,
  listIntegrationInstallations: plain,
  installIntegration: { body: () => ({}) },
  getIntegrationInstallationById: plain,
  updateIntegrationInstallation: plain,
  // With `all` the installation would reach the places of other cells.
  selectPlaces: { body: () => ({ spaces: 'selected', sites: 'selected' }) },
  uninstallIntegration: ends,
  pauseInstallation: plain,
  resumeInstallation: plain,
  listInstallationStorage: plain,
  listIntegrationInstallationSites: plain,
  installIntegrationOnSite: onSite,
  getIntegrationSiteInstallation: plain,
  updateIntegrationSiteInstallation: plain,
  uninstallIntegrationFromSite: ends,
  listIntegrationInstallationSpaces: plain,
  installIntegrationOnSpace: onSpace,
  getIntegrationSpaceInstallation: plain,
  updateIntegrationSpaceInstallation: plain,
  uninstallIntegrationFromSpace: ends,
  putInstallationSetting: plain,
  deleteInstallationSetting: plain,
  rotateInstallationSecret: plain,
  endInstallationSecretOverlap: plain,
  putSiteInstallationSetting: plain,
  deleteSiteInstallationSetting: plain,
  rotateSiteInstallationSecret: plain,
  endSiteInstallationSecretOverlap: plain,
  putSpaceInstallationSetting: plain,
  deleteSpaceInstallationSetting: plain,
  rotateSpaceInstallationSecret: plain,
  endSpaceInstallationSecretOverlap: plain,
  // integrations and their versions
  listIntegrations: plain,
  getIntegrationByName: { isPublic: true },
  checkIntegrationSettings: { isPublic: true },
  resumeIntegration: plain,
  createIntegrationInstallationToken: plain,
  listIntegrationSiteInstallations: plain,
  listIntegrationSpaceInstallations: plain,
  queueIntegrationTask: plain,
  reloadFolders: ends,
  listIntegrationVersions: plain,
  compareIntegrationVersions: plain,
  rollBackIntegration: plain,
  unpinIntegration: plain,
  pruneIntegrations: ends,
  listProblems: plain,
  listInstallationSettingOptions: absent,
  listSiteInstallationSettingOptions: absent,
  listSpaceInstallationSettingOptions: absent,
  getInstallationAgreement: plain,
  agreeToVersion: absent,
  // people and organizations
  getMe: plain,
  listMembersInOrganizationById: plain,
  addMemberToOrganizationById: plain,
  getMemberInOrganizationById: plain,
  updateMemberInOrganizationById: plain,
  removeMemberFromOrganizationById: ends,
  listOrganizationTokens: plain,
  createOrganizationToken: plain,
  revokeOrganizationToken: ends,
  listOperatorTokens: plain,
  createOperatorToken: plain,
  revokeOperatorToken: ends,
  redeemSetupToken: plain,
  listOrganizations: plain,
  createOrganization: plain,
  getOrganizationById: plain,
  updateOrganizationById: plain,
  deleteOrganizationById: plain,
  // observations
  listLogs: plain,
  listReceipts: plain,
  listUsage: plain,
  listAudit: plain,
  exportAudit: plain,
  // sites and spaces
  listSites: plain,
  createSite: plain,
  getSiteById: plain,
  updateSiteById: plain,
  deleteSiteById: plain,
  listSpacesInOrganizationById: plain,
  createSpace: plain,
  getSpaceById: plain,
  updateSpaceById: plain,
  deleteSpaceById: plain,
  getSiteScript: plain,
  recordSiteView: plain,
  recordPageFeedback: plain,
  getSiteScriptSettings: plain,
  updateSiteScriptSettings: plain,
  listSiteViews: plain,
  countSiteViews: plain,
  getSiteAdaptiveSchema: absent,
  updateSiteAdaptiveSchema: plain,
  getSitePublishingAuthById: absent,
  // Annex itself
  getHomePage: plain,
  getHealth: plain,
  getReadiness: plain,
  getMetrics: plain,
  getOpenApi: plain,
}
