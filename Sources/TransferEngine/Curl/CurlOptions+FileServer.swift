import CTransferCurl
import Glibc
import TransferCore

// The options of one step of a file server's dialogue.
extension CurlOptions {
    func apply(_ files: FileServerTask, to handle: CurlHandle) throws(TransferError) {
        let settings = exchange.request.settings
        if handle.shape != nil { handle.reset() }
        try handle.collectErrorText()
        try handle.check(transfer_easy_set_files_only(handle.raw), CURLOPT_URL)
        transfer_easy_set_quick_exit(handle.raw)
        try handle.set(CURLOPT_NOSIGNAL, 1)
        try handle.set(CURLOPT_TCP_KEEPALIVE, 1)
        try SocketCallbacks.apply(to: handle)
        try applyFileTimes(handle, settings)
        let wanted = exchange.sink is RemoteSink ? BodyPipe.share(of: BodyPipe.buffers) : settings.receiveBufferSize
        let bufferSize = max(1 << 10, min(512 << 10, wanted))
        _ = transfer_easy_set_long(handle.raw, CURLOPT_BUFFERSIZE, exchange.limiters.isEmpty ? bufferSize : 16 << 10)
        // SFTP has as many bytes under way as one call passes (libssh2_sftp_write(3)).
        let underWay = exchange.body.isPiped ? BodyPipe.share(of: BodyPipe.buffers) : 512 << 10
        _ = transfer_easy_set_long(
            handle.raw, CURLOPT_UPLOAD_BUFFERSIZE, exchange.limiters.isEmpty ? underWay : 16 << 10)
        try applyFileCallbacks(handle, files)
        try GivenAddresses.apply(resolved, to: handle)
        try applyFamilies(handle, settings)
        try applyProxy(handle, settings)
        // Only a tunnel is used: without one an HTTP proxy would be asked for the file.
        try handle.set(CURLOPT_HTTPPROXYTUNNEL, 1)
        try applyUser(handle, settings)
        if files.url.isSSH {
            try applySSH(handle, files, settings)
        } else {
            try applyFTP(handle, files, settings.files)
            try applyTLS(handle)
        }
        try applyStep(handle, files, settings.files)
    }

    private func applyStep(
        _ handle: CurlHandle, _ files: FileServerTask, _ settings: FileServerSettings
    ) throws(TransferError) {
        // A store needs no time: libcurl would ask for the time of the file that is replaced.
        try handle.set(CURLOPT_FILETIME, files.step.isLook ? 1 : 0)
        switch files.step {
        case .look(let place):
            // libcurl lists folders without a check whether they exist.
            try handle.set(CURLOPT_URL, place.name)
            try handle.set(CURLOPT_NOBODY, 1)
        case .fetch(let offset):
            try handle.set(CURLOPT_URL, files.url.text)
            if files.url.isSSH {
                if offset > 0 { try handle.set(CURLOPT_RESUME_FROM_LARGE, offset: offset) }
            } else {
                try applyFetch(
                    handle, ["*SIZE \(try files.url.commandPath())"] + (offset > 0 ? ["REST \(offset)"] : []))
            }
        case .fetchUnmeasured:
            try handle.set(CURLOPT_URL, files.url.text)
            try applyFetch(handle, [])
        case .store: try applyUpload(handle, files, settings, from: 0)
        case .append(let offset): try applyUpload(handle, files, settings, from: offset)
        case .delete:
            let path = try files.url.commandPath()
            let command = files.url.isSSH ? files.url.isFolder ? "rmdir" : "rm" : files.url.isFolder ? "*RMD" : "*DELE"
            try applyCommands(handle, files, ["\(command) \(path)"])
        case .rename(let destination):
            let (from, to) = (try files.url.commandPath(), try destination.commandPath())
            try applyCommands(
                handle, files, files.url.isSSH ? ["rename \(from) \(to)"] : ["*RNFR \(from)", "*RNTO \(to)"])
        case .probe:
            let path = try files.url.commandPath()
            try applyCommands(handle, files, ["*RNFR \(path)", "*DELE \(path)"])
        case .setTime(let time):
            let path = try files.url.commandPath()
            // libcurl parses dates (curl_getdate(3)); FTP has digits (draft-somers-ftp-mfxx §3.1, RFC 3659 §2.3).
            try applyCommands(
                handle, files,
                [
                    files.url.isSSH
                        ? "mtime \"\(HTTPDate.format(time))\" \(path)" : "*MFMT \(HTTPDate.digits(time)) \(path)"
                ])
        case .makeFolder where files.url.isSSH:
            // Parent folders may exist already. An asterisk lets a command fail (CURLOPT_QUOTE(3)).
            let folders = try files.url.folders()
            try applyCommands(
                handle, files, folders.dropLast().map { "*mkdir \($0)" } + folders.suffix(1).map { "mkdir \($0)" })
        case .makeFolder:
            let text = files.url.text
            try handle.set(CURLOPT_URL, text.hasSuffix("/") ? text : text + "/")
            try handle.set(CURLOPT_NOBODY, 1)
            try applyFolders(handle)
        }
    }

    /// Sets up a download whose length is compared here and not by libcurl.
    ///
    /// libcurl would read no more bytes than SIZE reports, and take them for the whole file. Therefore it must not know
    /// a length (CURLOPT_IGNORE_CONTENT_LENGTH(3)).
    ///
    /// - Parameter commands: The commands just before RETR (CURLOPT_PREQUOTE(3)); an asterisk lets one fail.
    private func applyFetch(_ handle: CurlHandle, _ commands: [String]) throws(TransferError) {
        try handle.set(CURLOPT_IGNORE_CONTENT_LENGTH, 1)
        try handle.set(CURLOPT_PREQUOTE, list: commands)
    }

    private func applyUpload(
        _ handle: CurlHandle, _ files: FileServerTask, _ settings: FileServerSettings, from offset: Int64
    ) throws(TransferError) {
        let pointer = Unmanaged.passUnretained(exchange).toOpaque()
        try handle.set(CURLOPT_URL, files.url.text)
        try handle.set(CURLOPT_UPLOAD, 1)
        try handle.check(transfer_easy_set_read(handle.raw, CurlCallbacks.read), CURLOPT_READFUNCTION)
        try handle.set(CURLOPT_READDATA, pointer: pointer)
        try handle.check(transfer_easy_set_seek(handle.raw, CurlCallbacks.seek), CURLOPT_SEEKFUNCTION)
        try handle.set(CURLOPT_SEEKDATA, pointer: pointer)
        // libcurl counts from the beginning of the file when it begins in the middle.
        try handle.set(CURLOPT_INFILESIZE_LARGE, offset: exchange.body.length.map { $0 + files.bodyOffset } ?? -1)
        if offset > 0 {
            // SFTP writes at the offset. FTP appends to a file that was measured the moment before.
            if files.url.isSSH {
                try handle.set(CURLOPT_RESUME_FROM_LARGE, offset: offset)
            } else {
                try handle.set(CURLOPT_APPEND, 1)
            }
        }
        // SFTP makes folders where the file cannot be opened (CURLOPT_FTP_CREATE_MISSING_DIRS(3)).
        let makesFolders = files.makesFolders || files.url.isSSH && settings.createsFolders
        if makesFolders { try applyFolders(handle) }
        // The transfer has made the type binary, as SIZE needs it (CURLOPT_POSTQUOTE(3)).
        if files.dialogue.measuresStore, !files.url.isSSH {
            let path = try files.url.commandPath()
            // After changes of folder, paths are relative to the last one.
            let name = makesFolders ? String(path.split(separator: "/").last ?? "") : path
            try handle.set(CURLOPT_POSTQUOTE, list: ["*SIZE \(name)"])
        }
    }

    /// Sets up a step that only sends commands.
    ///
    /// - Parameter commands: The commands. An asterisk lets a command of FTP fail: otherwise libcurl would end the
    ///   connection. The replies show failures.
    private func applyCommands(
        _ handle: CurlHandle, _ files: FileServerTask, _ commands: [String]
    ) throws(TransferError) {
        try handle.set(CURLOPT_URL, files.url.root)
        try handle.set(CURLOPT_NOBODY, 1)
        // Paths of FTP are relative to the folder after login, which is the current one only after libcurl's change of
        // folder.
        try handle.set(files.url.isSSH ? CURLOPT_QUOTE : CURLOPT_PREQUOTE, list: commands)
    }

    /// Sets up single changes of folder, as only they show which folder is missing.
    private func applyFolders(_ handle: CurlHandle) throws(TransferError) {
        try handle.set(CURLOPT_FTP_FILEMETHOD, Int(CURLFTPMETHOD_MULTICWD.rawValue))
        try handle.set(CURLOPT_FTP_CREATE_MISSING_DIRS, Int(CURLFTP_CREATE_DIR_RETRY.rawValue))
    }

    private func applyFTP(
        _ handle: CurlHandle, _ files: FileServerTask, _ settings: FileServerSettings
    ) throws(TransferError) {
        // The whole path is sent in one command: each change of folder is a round trip.
        try handle.set(CURLOPT_FTP_FILEMETHOD, Int(CURLFTPMETHOD_NOCWD.rawValue))
        // The address in PASV's reply may belong to any host.
        try handle.set(CURLOPT_FTP_SKIP_PASV_IP, 1)
        if settings.usesActiveMode { try handle.set(CURLOPT_FTPPORT, "-") }
        guard settings.requiresTLS || files.url.isImplicitTLS else { return }
        // Data connections need TLS too: an implicit connection alone does not require it for them.
        try handle.set(CURLOPT_USE_SSL, Int(CURLUSESSL_ALL.rawValue))
        try handle.set(CURLOPT_FTPSSLAUTH, Int(CURLFTPAUTH_TLS.rawValue))
    }

    private func applySSH(
        _ handle: CurlHandle, _ files: FileServerTask, _ settings: ExchangeSettings
    ) throws(TransferError) {
        let pointer = Unmanaged.passUnretained(exchange).toOpaque()
        if let pin = settings.files.hostKey {
            try handle.set(
                CURLOPT_SSH_HOST_PUBLIC_KEY_SHA256, pin.hasPrefix("SHA256:") ? String(pin.dropFirst(7)) : pin)
        } else {
            // libcurl supports no patterns and no markers: the callback decides. The file given to libcurl makes it ask
            // the server for a key of a known type.
            files.knownKeysFile = files.knownKeys?.line.flatMap { MemoryFile($0) }
            try handle.set(CURLOPT_SSH_KNOWNHOSTS, files.knownKeysFile?.path ?? "/dev/null")
            try handle.check(
                transfer_easy_set_hostkey(handle.raw, FileServerCallbacks.hostKey), CURLOPT_SSH_KEYFUNCTION)
            try handle.set(CURLOPT_SSH_KEYDATA, pointer: pointer)
        }
        var ways = 0
        if let key = settings.files.privateKey {
            guard access(key.path, R_OK) == 0 else { throw .file("read", key.path, errno) }
            // libcurl searches the home folder for a key where it may use one and is given none.
            ways |= SSHAuthentication.key
            try handle.set(CURLOPT_SSH_PRIVATE_KEYFILE, key.path)
            try handle.set(CURLOPT_KEYPASSWD, key.passphrase)
        }
        if settings.files.usesAgent { ways |= SSHAuthentication.agent }
        if let login = settings.credentials.login, !login.password.isEmpty { ways |= SSHAuthentication.password }
        try handle.set(CURLOPT_SSH_AUTH_TYPES, ways)
    }

    private func applyUser(_ handle: CurlHandle, _ settings: ExchangeSettings) throws(TransferError) {
        guard let login = settings.credentials.login else { return }
        guard !(login.user + login.password).utf8.contains(where: { $0 == 0 || $0 == 10 || $0 == 13 }) else {
            throw TransferError(.invalidRequest, "a line break or a zero in the user's name or password")
        }
        try handle.set(CURLOPT_USERNAME, login.user)
        try handle.set(CURLOPT_PASSWORD, login.password)
    }

    /// Sets the times. The pool watches for silence, as libcurl checks the rate only while a file is moving.
    private func applyFileTimes(_ handle: CurlHandle, _ settings: ExchangeSettings) throws(TransferError) {
        try handle.set(CURLOPT_CONNECTTIMEOUT_MS, Self.milliseconds(settings.connectTimeout))
        try handle.set(CURLOPT_SERVER_RESPONSE_TIMEOUT, Int(Int32.max / 1000))
        // Without a timeout libcurl would poll its socket without pause while it waits for the end of an SFTP file.
        try handle.set(CURLOPT_TIMEOUT_MS, timeLeft.map { Self.milliseconds($0) } ?? Int(Int32.max))
        // libcurl counts bytes that its socket has taken. Without a rate to keep, a full send buffer would be silence
        // to it.
        guard settings.idleTimeout == nil, settings.lowSpeedRate > 1 else { return }
        try handle.set(CURLOPT_LOW_SPEED_LIMIT, Int(settings.lowSpeedRate))
        try handle.set(CURLOPT_LOW_SPEED_TIME, Int(max(1, settings.lowSpeedTime.components.seconds)))
    }

    private func applyFileCallbacks(_ handle: CurlHandle, _ files: FileServerTask) throws(TransferError) {
        let pointer = Unmanaged.passUnretained(exchange).toOpaque()
        try handle.set(CURLOPT_PRIVATE, pointer: pointer)
        try handle.set(CURLOPT_WRITEDATA, pointer: pointer)
        try handle.set(CURLOPT_HEADERDATA, pointer: pointer)
        try handle.set(CURLOPT_SSL_CTX_DATA, pointer: pointer)
        try handle.set(CURLOPT_XFERINFODATA, pointer: pointer)
        try handle.set(CURLOPT_PREREQDATA, pointer: pointer)
        try handle.check(
            transfer_easy_set_write(handle.raw, CURLOPT_WRITEFUNCTION, CurlCallbacks.write), CURLOPT_WRITEFUNCTION)
        try handle.check(
            transfer_easy_set_write(handle.raw, CURLOPT_HEADERFUNCTION, CurlCallbacks.header), CURLOPT_HEADERFUNCTION)
        try handle.check(
            transfer_easy_set_progress(handle.raw, FileServerCallbacks.progress), CURLOPT_XFERINFOFUNCTION)
        try handle.set(CURLOPT_NOPROGRESS, 0)
        try handle.check(
            transfer_easy_set_prerequest(handle.raw, FileServerCallbacks.prerequest), CURLOPT_PREREQFUNCTION)
        try LinkCallbacks.apply(to: handle, exchange)
        try handle.check(
            transfer_easy_set_opensocket(handle.raw, FileServerCallbacks.open), CURLOPT_OPENSOCKETFUNCTION)
        try handle.set(CURLOPT_OPENSOCKETDATA, pointer: pointer)
        // The callback's data belongs to the pool, as connections outlive their exchange.
        try handle.check(
            transfer_easy_set_closesocket(handle.raw, FileServerCallbacks.close), CURLOPT_CLOSESOCKETFUNCTION)
        try handle.set(CURLOPT_CLOSESOCKETDATA, pointer: Unmanaged.passUnretained(files.sockets).toOpaque())
    }
}

/// The CURLSSH_AUTH_… macros (curl.h).
private enum SSHAuthentication {
    static let key = 1 << 0
    /// A password, also as an answer to the server's question (RFC 4256).
    static let password = 1 << 1 | 1 << 3
    static let agent = 1 << 4
}
