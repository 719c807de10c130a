import CTransferCurl
import TransferCore

/// The meaning of a CURLcode where a file server answered (libcurl-errors(3)).
enum FileServerFault {
    /// The failures that are answers of an SSH server.
    private static let sshAnswers: Set<UInt32> = Set(
        [
            CURLE_REMOTE_FILE_NOT_FOUND, CURLE_REMOTE_ACCESS_DENIED, CURLE_REMOTE_FILE_EXISTS, CURLE_REMOTE_DISK_FULL,
            CURLE_QUOTE_ERROR, CURLE_BAD_DOWNLOAD_RESUME,
        ].map(\.rawValue))

    /// Returns whether the connection is in the state in which it was before.
    ///
    /// After failures of other kinds libcurl may keep a connection of FTP on which replies to our commands are still to
    /// come.
    static func leavesConnection(_ files: FileServerTask, _ code: CURLcode, hasSecureData: Bool) -> Bool {
        guard code != CURLE_OK else { return true }
        if files.url.isSSH { return Self.sshAnswers.contains(code.rawValue) }
        // The failure of an abandoned handshake may come in a second reply, after that to the command.
        guard !hasSecureData else { return false }
        switch code {
        case CURLE_BAD_DOWNLOAD_RESUME: return true
        case CURLE_REMOTE_FILE_NOT_FOUND, CURLE_REMOTE_ACCESS_DENIED, CURLE_FTP_COULDNT_RETR_FILE, CURLE_UPLOAD_FAILED,
            CURLE_QUOTE_ERROR, CURLE_REMOTE_DISK_FULL, CURLE_FTP_COULDNT_USE_REST:
            return (files.replies.last?.code ?? 0) >= 400
        default: return false
        }
    }

    static func failure(
        _ exchange: ActiveExchange, _ files: FileServerTask, _ handle: CurlHandle, _ code: CURLcode,
        _ logins: AcceptedLogins?
    ) -> FileServerFailure {
        let host = files.url.origin.hostAndPort
        if let error = exchange.connection.socketError(code, host: ProxyFault.name(exchange) ?? host) {
            return .error(error)
        }
        let words = Redaction.url(handle.lastErrorText)
        let cause = TransferError.Cause.curl(Int32(code.rawValue))
        let reply = files.url.isSSH ? nil : files.refusal ?? files.replies.last
        func error(_ kind: TransferError.Code, _ message: String, transient: Bool = false, origin: Bool = false)
            -> FileServerFailure
        {
            .error(
                TransferError(
                    kind, message, cause: cause, isTransient: transient, scope: origin ? .origin : .transfer))
        }
        // libssh2 takes the last status that came for SFTP's answer, even where none came to this request.
        if files.url.isSSH, files.isDeserted,
            Self.sshAnswers.contains(code.rawValue) || code == CURLE_SSH && isOfFile(words)
        {
            return error(.connectionLost, "connection lost: \(host) ended it", transient: true)
        }
        // The reply is "Service not available": too many users, or a server that shuts down (RFC 959 §5.4).
        if let reply, reply.code == 421, code != CURLE_SEND_ERROR {
            let isCrowd = FileServerFailure.isCrowd(reply.text)
            return error(
                isCrowd ? .tooManyConnections : .cannotConnect, "\(host) accepts no logins now (\(reply))",
                transient: true,
                origin: true)
        }
        // Servers use 530 for a crowd and for a wrong login. An account that was accepted before still has a valid
        // login.
        if code == CURLE_LOGIN_DENIED, let reply, reply.code == 530,
            FileServerFailure.isCrowd(reply.text)
                || logins?.hasWorked(exchange.request.settings, at: files.url.origin) == true
        {
            return error(
                .tooManyConnections, "\(host) accepts no more logins now (\(reply))", transient: true, origin: true)
        }
        func reported(else otherwise: FileServerFailure) -> FileServerFailure {
            if let reply, reply.code >= 400 {
                if files.looks, let reported = FileServerFailure.look(reply, denials: files.replies.denials) {
                    return reported
                }
                return FileServerFailure(reply, writes: files.writes, host: host)
            }
            return FileServerFailure.read(words) ?? otherwise
        }
        switch code {
        case CURLE_REMOTE_FILE_NOT_FOUND: return reported(else: .missing(words))
        case CURLE_REMOTE_ACCESS_DENIED: return reported(else: .denied(words))
        // Only REST may end the transfer among the commands before RETR, so the refusal is that of REST.
        case CURLE_QUOTE_ERROR where files.fetches: return .noRestart
        case CURLE_FTP_COULDNT_RETR_FILE, CURLE_UPLOAD_FAILED, CURLE_QUOTE_ERROR: return reported(else: .denied(words))
        case CURLE_REMOTE_DISK_FULL: return reported(else: .full(words))
        case CURLE_REMOTE_FILE_EXISTS: return .exists(words)
        case CURLE_BAD_DOWNLOAD_RESUME: return .beyondEnd
        case CURLE_FTP_COULDNT_USE_REST: return .noRestart
        case CURLE_PARTIAL_FILE:
            if let reply, reply.code == 452 || reply.code == 552 { return reported(else: .full(reply.description)) }
        // The server ended the data connection while it was being sent to, and says why.
        case CURLE_SEND_ERROR where files.sends:
            if let reply, reply.code >= 400 {
                if reply.code == 552 { return .full(reply.description) }
                return error(.connectionLost, "connection lost: \(host) answered \(reply)", transient: true)
            }
        case CURLE_LOGIN_DENIED: return error(.loginRefused, Self.login(exchange, files, reply))
        case CURLE_USE_SSL_FAILED:
            return error(
                .secureConnectionFailed,
                "\(host) does not speak TLS, which is required (\(reply?.description ?? words))")
        case CURLE_PEER_FAILED_VERIFICATION where files.url.isSSH:
            let key = files.hostKey ?? SSHHostKey(fault: .notPinned, type: nil, fingerprint: Self.seen(words))
            return .error(key.error(files.url.origin, files: exchange.request.settings.files.knownHostsFiles))
        case CURLE_FAILED_INIT where files.url.isSSH:
            // The server was asked for a key of the known type only.
            if words.contains("exchange encryption keys"), let key = files.knownKeys?.asked {
                let known = exchange.request.settings.files.knownHostsFiles
                return .error(SSHHostKey.noCommonSignature(files.url.origin, type: key.type, files: known))
            }
            if SSHLibrary.isDisagreement(words) {
                let file = exchange.request.settings.files.knownHostsFiles.first
                return .error(SSHLibrary.current.disagreement(files.url.origin, file: file, words))
            }
            return error(.secureConnectionFailed, "no SFTP with \(host): \(words)", transient: true)
        case CURLE_SSH:
            // SFTP reports a failure without a specific code with the name of the failed operation.
            if isOfFile(words) {
                // SSH_FX_FAILURE covers every failure without its own code, such as too many open files.
                if words.hasSuffix("Operation failed") {
                    return error(.badResponse, "\(host) says: \(words)", transient: true)
                }
                return FileServerFailure.read(words) ?? .denied(words)
            }
            let isConnected = handle.offset(CURLINFO_PRETRANSFER_TIME_T) > 0
            let why = words.isEmpty ? "" : ": \(words.lowercasedFirst)"
            return isConnected
                ? error(.connectionLost, "connection lost\(why)", transient: true)
                : error(.secureConnectionFailed, "no SSH connection with \(host)\(why)", transient: true)
        default: break
        }
        return .error(
            CurlFailure.error(
                code, text: handle.lastErrorText, host: host,
                isConnected: handle.offset(CURLINFO_CONNECT_TIME_T) > 0
                    || handle.offset(CURLINFO_PRETRANSFER_TIME_T) > 0,
                systemError: Int32(truncatingIfNeeded: handle.long(CURLINFO_OS_ERRNO))))
    }

    /// Returns whether a message is about a file, and not about the connection or the login.
    private static func isOfFile(_ words: String) -> Bool {
        words.hasPrefix("Upload failed") || words.contains("dir/file failed") || words.hasPrefix("Could not open")
    }

    private static func login(
        _ exchange: ActiveExchange, _ files: FileServerTask, _ reply: FTPReplies.Reply?
    ) -> String {
        let host = files.url.origin.hostAndPort
        let settings = exchange.request.settings
        let user: String
        var shown: [String] = []
        if let login = settings.credentials.login {
            user = "the user \(login.user)"
            if !login.password.isEmpty { shown.append("the password") }
        } else {
            user = "an anonymous user"
        }
        if let reply { return "\(host) refused \(user) (\(reply))" }
        if let key = settings.files.privateKey { shown.insert(key.inWords, at: 0) }
        if settings.files.usesAgent {
            let limit = SSHLibrary.current.rsaWords.map { " (\($0))" } ?? ""
            shown.append("the agent's keys\(limit)")
        }
        return "\(host) refused \(user): \(shown.isEmpty ? nothingShown(files) : shown.joined(separator: ", "))"
    }

    private static func nothingShown(_ files: FileServerTask) -> String {
        guard files.url.isSSH else { return "no password is set (\"auth\"\(CommandPhrases.only(", --password")))" }
        return
            "no key and no password is set: name a key (\"ssh\": {\"key\": …}\(CommandPhrases.only(", --ssh-key"))), let an agent hold one "
            + "(SSH_AUTH_SOCK), or give a password (\"auth\"\(CommandPhrases.only(", --password")))"
    }

    /// Extracts the fingerprint from "… mismatch sha256 fingerprint. Remote X is not equal to Y".
    private static func seen(_ words: String) -> String? {
        let parts = words.split(separator: " ")
        guard let index = parts.firstIndex(of: "Remote"), index + 1 < parts.count else { return nil }
        return "SHA256:" + parts[index + 1].prefix { $0 != "=" }
    }
}
