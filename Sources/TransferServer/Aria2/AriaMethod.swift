/// The methods of aria2's interface that exist here. For aria2's torrent methods, the answer is that of an aria2 built
/// without them.
enum AriaMethod: String, CaseIterable, Sendable {
    case addUri = "aria2.addUri"
    case addMetalink = "aria2.addMetalink"
    case remove = "aria2.remove"
    case pause = "aria2.pause"
    case forcePause = "aria2.forcePause"
    case pauseAll = "aria2.pauseAll"
    case forcePauseAll = "aria2.forcePauseAll"
    case unpause = "aria2.unpause"
    case unpauseAll = "aria2.unpauseAll"
    case forceRemove = "aria2.forceRemove"
    case changePosition = "aria2.changePosition"
    case tellStatus = "aria2.tellStatus"
    case getUris = "aria2.getUris"
    case getFiles = "aria2.getFiles"
    case getPeers = "aria2.getPeers"
    case getServers = "aria2.getServers"
    case tellActive = "aria2.tellActive"
    case tellWaiting = "aria2.tellWaiting"
    case tellStopped = "aria2.tellStopped"
    case getOption = "aria2.getOption"
    case changeUri = "aria2.changeUri"
    case changeOption = "aria2.changeOption"
    case getGlobalOption = "aria2.getGlobalOption"
    case changeGlobalOption = "aria2.changeGlobalOption"
    case purgeDownloadResult = "aria2.purgeDownloadResult"
    case removeDownloadResult = "aria2.removeDownloadResult"
    case getVersion = "aria2.getVersion"
    case getSessionInfo = "aria2.getSessionInfo"
    case shutdown = "aria2.shutdown"
    case forceShutdown = "aria2.forceShutdown"
    case getGlobalStat = "aria2.getGlobalStat"
    case saveSession = "aria2.saveSession"
    case multicall = "system.multicall"
    case listMethods = "system.listMethods"
    case listNotifications = "system.listNotifications"

    /// The right that a call needs. Methods of `system` need none, since the calls inside are checked separately.
    var level: AccessRules.Level {
        switch self {
        case .multicall, .listMethods, .listNotifications: .unauthenticated
        case .tellStatus, .getUris, .getFiles, .getPeers, .getServers, .tellActive, .tellWaiting, .tellStopped,
            .getOption, .getGlobalOption, .getVersion, .getSessionInfo, .getGlobalStat:
            .reader
        default: .owner
        }
    }
}

/// The notifications of aria2's interface.
enum AriaNotification: String, CaseIterable, Sendable {
    case start = "aria2.onDownloadStart"
    case pause = "aria2.onDownloadPause"
    case stop = "aria2.onDownloadStop"
    case complete = "aria2.onDownloadComplete"
    case error = "aria2.onDownloadError"
}
