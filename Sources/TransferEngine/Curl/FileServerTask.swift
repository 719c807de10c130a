import CTransferCurl
import TransferCore
import TransferEventLoop

/// A request to a file server under way, used on its loop's thread only.
final class FileServerTask {
    let url: FileServerURL
    let sockets: ServerSockets
    var dialogue: FileServerDialogue
    private(set) var step: FileServerDialogue.Step
    /// The replies of the current step.
    var replies = FTPReplies()
    /// Whether the server ended a connection of the step.
    var isDeserted = false
    /// Whether the answer to CLOSE of a whole file was no longer awaited.
    var isLeftOpen = false
    /// The keys that the SSH server may have; `nil` where a fingerprint decides.
    let knownKeys: ServerKeys?
    /// The file of keys that libcurl reads while it connects.
    var knownKeysFile: MemoryFile?
    /// The reason why the SSH server's key was refused.
    var hostKey: SSHHostKey?
    /// Whether an FTP upload makes the folders above the file, and changes to them, before the file is stored.
    private(set) var makesFolders = false
    /// Whether the user was logged in and a step has begun.
    private(set) var hasBegun = false
    /// The socket of the step's connection; of FTP's two the control connection.
    private(set) var control: Int32?
    /// The last values of libcurl's counters.
    var moved: (down: Int64, up: Int64) = (0, 0)
    /// The time of the last check of the bytes that the server's machine has acknowledged.
    var lastLook = MonotonicTime.now

    /// Creates the task of one hop.
    ///
    /// - Throws: An error for requests that a file server cannot answer, and for SSH servers whose keys cannot be
    ///   known.
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
        control = nil
        isLeftOpen = false
        moved = (0, 0)
    }

    /// Notes that libcurl has a connection with a logged-in user, and is about to begin the step.
    ///
    /// libcurl may begin the data connection without ever asking for this connection's socket.
    ///
    /// - Parameter localPort: The port of the connection's end here.
    func stepBegins(of id: ExchangeID, from localPort: Int) {
        hasBegun = true
        control = sockets.used(localPort: localPort, by: id)
    }

    /// Decides whether the next attempt of a refused store makes the folders, as one may be missing.
    ///
    /// The store must have been refused before a byte left. The first attempt makes none, because each change of folder
    /// is a round trip and most folders exist.
    func makesFoldersNow(_ failure: FileServerFailure, sent: Int64, _ settings: FileServerSettings) -> Bool {
        guard !url.isSSH, settings.createsFolders, !makesFolders, step == .store, sent == 0 else { return false }
        switch failure {
        case .missing, .denied, .ambiguous: makesFolders = true
        case .exists, .full, .beyondEnd, .noRestart, .error: break
        }
        return makesFolders
    }

    /// Whether the bytes that libcurl delivers are the file.
    var fetches: Bool {
        switch step {
        case .fetch, .fetchUnmeasured: true
        default: false
        }
    }

    /// Whether the step only asks for facts.
    var looks: Bool {
        if case .look = step { return true }
        return false
    }

    /// Whether the step sends bytes of a body.
    var sends: Bool {
        switch step {
        case .store, .append: true
        default: false
        }
    }

    /// Whether the step creates or changes a file or a folder.
    var writes: Bool {
        switch step {
        case .store, .append, .makeFolder: true
        case .look, .fetch, .fetchUnmeasured, .delete, .rename, .probe, .setTime: false
        }
    }

    /// The number of commands of an FTP step whose refusal does not end the connection: their replies decide.
    private var commands: Int {
        guard !url.isSSH else { return 0 }
        switch step {
        case .delete, .setTime: return 1
        case .rename, .probe: return 2
        case .look, .fetch, .fetchUnmeasured, .store, .append, .makeFolder: return 0
        }
    }

    /// The refusal of a command that libcurl ignored.
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

    /// Returns whether the step has a data connection of FTP, with TLS.
    func hasSecureData(_ settings: FileServerSettings) -> Bool {
        !url.isSSH && (url.isImplicitTLS || settings.requiresTLS) && (fetches || sends)
    }

    /// The offset at which libcurl believes that the body begins.
    var bodyOffset: Int64 {
        if case .append(let offset) = step, url.isSSH { return offset }
        return 0
    }

    /// Returns the file as the server described it in this step.
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
            // libcurl reports an empty file like an unknown length. The time comes from the same STAT: a server that
            // refuses it reports neither.
            file.size = 0
        }
        return file
    }
}

extension CurlHandle {
    /// Returns a number, or -1 where libcurl does not know it.
    func signedOffset(_ info: CURLINFO) -> Int64 {
        var value: Int64 = -1
        return transfer_easy_get_offset(raw, info, &value) == CURLE_OK ? value : -1
    }
}
