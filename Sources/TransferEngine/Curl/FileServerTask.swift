import CTransferCurl
import TransferCore
import TransferEventLoop

/// One request to a file server under way. Used on its loop's thread only.
final class FileServerTask {
    let url: FileServerURL
    let sockets: ServerSockets
    var dialogue: FileServerDialogue
    private(set) var step: FileServerDialogue.Step
    /// Replies of the present step.
    var replies = FTPReplies()
    /// The server ended a connection of the step.
    var isDeserted = false
    /// The keys that the SSH server may have; `nil` where a fingerprint decides.
    let knownKeys: ServerKeys?
    /// The file that libcurl reads while it connects.
    var knownKeysFile: MemoryFile?
    /// Why the SSH server's key was refused.
    var hostKey: SSHHostKey?
    /// FTP: the folders above the file are made and changed to before it is stored.
    private(set) var makesFolders = false
    /// The user was let in, and a step was begun.
    private(set) var hasBegun = false
    /// libcurl's counters when they were looked at last.
    var moved: (down: Int64, up: Int64) = (0, 0)
    /// The last look at what the server's machine has acknowledged.
    var lastLook = MonotonicTime.now

    /// - Throws: For what can't be asked of a file server, and for SSH servers that can't be known.
    init(
        _ hop: Hop, _ settings: ExchangeSettings, _ sockets: ServerSockets, _ knownHosts: KnownHostsMemory
    ) throws(TransferError) {
        let url = try FileServerURL(hop.url)
        if url.isSSH, settings.files.hostKey == nil {
            let files = settings.files.knownHostsFiles
            guard !files.isEmpty else { throw SSHHostKey.noRule(url.origin) }
            knownKeys = try knownHosts.keys(of: url.origin, in: files)
        } else {
            knownKeys = nil
        }
        if url.isSSH {
            if settings.credentials.login == nil {
                throw TransferError(.invalidRequest, "\(url.origin.hostAndPort) needs to know which user logs in")
            }
        }
        var dialogue = try FileServerDialogue(url: url, method: hop.method, headers: hop.headers)
        step = dialogue.start()
        self.url = url
        self.dialogue = dialogue
        self.sockets = sockets
    }

    func begin(_ step: FileServerDialogue.Step) {
        self.step = step
        replies = FTPReplies()
        moved = (0, 0)
    }

    /// libcurl has a connection on which the user was let in, and is about to take the step.
    func stepBegins() { hasBegun = true }

    /// A store was refused before a byte left, and the folder may be missing: the next one makes it. Each change of folder
    /// is a round trip, and most folders are there.
    func makesFoldersNow(_ failure: FileServerFailure, sent: Int64, _ settings: FileServerSettings) -> Bool {
        guard !url.isSSH, settings.createsFolders, !makesFolders, step == .store, sent == 0 else { return false }
        switch failure {
        case .missing, .denied, .ambiguous: makesFolders = true
        case .exists, .full, .beyondEnd, .noRestart, .error: break
        }
        return makesFolders
    }

    /// Whether what libcurl delivers is the file.
    var fetches: Bool {
        switch step {
        case .fetch, .fetchUnmeasured: true
        default: false
        }
    }

    /// Whether it only asks.
    var looks: Bool {
        if case .look = step { return true }
        return false
    }

    /// Whether what libcurl asks for is sent.
    var sends: Bool {
        switch step {
        case .store, .append: true
        default: false
        }
    }

    /// Whether something is to be put there.
    var writes: Bool {
        switch step {
        case .store, .append, .makeFolder: true
        case .look, .fetch, .fetchUnmeasured, .delete, .rename, .probe, .setTime: false
        }
    }

    /// Commands of an FTP step that are refused without ending the connection: their replies decide.
    private var commands: Int {
        guard !url.isSSH else { return 0 }
        switch step {
        case .delete, .setTime: return 1
        case .rename, .probe: return 2
        case .look, .fetch, .fetchUnmeasured, .store, .append, .makeFolder: return 0
        }
    }

    /// The refusal of a command that libcurl passed over.
    var refusal: FTPReplies.Reply? { commands > 0 ? replies.refusal(ofLast: commands) : nil }

    /// The answer to a probe.
    var allowed: FileServerDialogue.Result {
        func isAllowed(_ reply: FTPReplies.Reply?) -> Bool {
            guard let reply, reply.code >= 400 else { return true }
            if case .denied = FileServerFailure(reply, writes: false, host: url.origin.host) { return false }
            return true
        }
        return .allowed(rename: isAllowed(replies.beforeLast), delete: isAllowed(replies.last))
    }

    /// Whether it has a data connection of FTP, with TLS.
    func hasSecureData(_ settings: FileServerSettings) -> Bool {
        !url.isSSH && (url.isImplicitTLS || settings.requiresTLS) && (fetches || sends)
    }

    /// The offset at which libcurl believes that the body begins.
    var bodyOffset: Int64 {
        if case .append(let offset) = step, url.isSSH { return offset }
        return 0
    }

    /// The file as the server described it in this step.
    func file(_ handle: CurlHandle) -> RemoteFile {
        let length = handle.signedOffset(CURLINFO_CONTENT_LENGTH_DOWNLOAD_T)
        let modified = handle.signedOffset(CURLINFO_FILETIME_T)
        var file = RemoteFile(size: nil, modified: modified >= 0 ? modified : nil)
        if fetches, !url.isSSH {
            file.size = replies.size
            return file
        }
        if sends {
            file.size = url.isSSH ? nil : replies.storedSize
            return file
        }
        if length >= 0 {
            if case .fetch(let offset) = step { file.size = length + offset } else { file.size = length }
        } else if url.isSSH, looks, file.modified != nil {
            // libcurl says of an empty file what it says of an unknown length; the time comes from the same STAT, which
            // a server that refuses it tells neither.
            file.size = 0
        }
        return file
    }
}

extension CurlHandle {
    /// -1 where libcurl doesn't know.
    func signedOffset(_ info: CURLINFO) -> Int64 {
        var value: Int64 = -1
        return transfer_easy_get_offset(raw, info, &value) == CURLE_OK ? value : -1
    }
}
