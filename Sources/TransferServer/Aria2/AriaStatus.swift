import TransferQueue

/// A job in the form in which aria2 reports a download.
struct AriaStatus {
    let entry: JobEntry
    let live: LiveJobs.Job?
    /// The last progress of a download that is neither active nor complete.
    let last: JobProgress?
    /// The served folder.
    let root: String
    /// Whether the client is shown the queries of URLs.
    let isOwner: Bool

    enum Word: String {
        case active, waiting, paused, error, complete, removed
    }

    var word: Word {
        switch entry.listed.state {
        // Without a transfer, the process that claimed the job waits for a free slot.
        case .claimed: live != nil || entry.isUnderWay ? .active : .waiting
        case .queued, .waiting, .blocked: .waiting
        case .paused: .paused
        case .done: .complete
        case .failed, .skipped: .error
        case .cancelled: .removed
        }
    }

    var gid: String { AriaGID.name(entry) }

    /// Returns the status.
    ///
    /// - Parameter keys: The members to return; `nil` for all.
    func value(_ keys: Set<String>?) -> JSONValue {
        let all = members
        return .object(keys.map { keys in all.filter { keys.contains($0.key) } } ?? all)
    }

    private var members: [String: JSONValue] {
        let total = total
        let completed = completed
        var members: [String: JSONValue] = [
            "gid": .string(gid), "status": .string(word.rawValue), "totalLength": .string(String(total)),
            "completedLength": .string(String(completed)), "uploadLength": .string("0"),
            "downloadSpeed": .string(String(isLive ? live?.progress.rate ?? 0 : 0)), "uploadSpeed": .string("0"),
            "connections": .string(String(isLive ? live?.progress.connections ?? 0 : 0)),
            "numPieces": .string(String((total + Self.piece - 1) / Self.piece)),
            "pieceLength": .string(String(Self.piece)), "dir": .string(folder), "files": .array([file]),
        ]
        if entry.listed.state.hasEnded {
            members["errorCode"] = .string(String(AriaErrorCode.number(entry.listed)))
            members["errorMessage"] = .string(word == .error ? entry.listed.message ?? "" : "")
        }
        return members
    }

    private static let piece: Int64 = 1 << 20

    private var isLive: Bool { word == .active }

    private var completed: Int64 {
        (isLive ? live?.progress.completed : nil) ?? entry.listed.bytes ?? last?.completed ?? 0
    }

    private var total: Int64 {
        if isLive, let total = live?.progress.total { return total }
        return (entry.listed.state == .done ? entry.listed.bytes : last?.total) ?? 0
    }

    // MARK: The file

    /// The absolute path.
    var path: String {
        if let path = entry.listed.path { return path }
        let name = entry.listed.route?.words(path: nil)?.to ?? ""
        return AbsolutePaths(from: entry.directory).absolute(name)
    }

    /// The absolute path of the folder.
    var folder: String {
        let path = path
        return path.lastIndex(of: "/").map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? root
    }

    var file: JSONValue {
        .object([
            "index": .string("1"), "path": .string(path), "length": .string(String(total)),
            "completedLength": .string(String(completed)), "selected": .string("true"), "uris": uris,
        ])
    }

    /// The job's URLs without the parts that grant access.
    var urls: [String] { entry.listed.route?.job.map { $0.urls.map(shown) } ?? [] }

    private func shown(_ url: String) -> String { JobJSON.shown(Redaction.url(url), isOwner) }

    var uris: JSONValue {
        let isAsked = word == .active || word == .complete || word == .error
        return .array(
            urls.enumerated().map { index, url in
                .object(["uri": .string(url), "status": .string(isAsked && index == 0 ? "used" : "waiting")])
            })
    }

    var servers: JSONValue {
        let url = live?.url.map(shown) ?? urls.first ?? ""
        let speed = live?.progress.rate ?? 0
        return .array([
            .object([
                "index": .string("1"),
                "servers": .array([
                    .object([
                        "uri": .string(urls.first ?? url), "currentUri": .string(url),
                        "downloadSpeed": .string(String(speed)),
                    ])
                ]),
            ])
        ])
    }
}

/// The gids of downloads; a client may have chosen one itself.
enum AriaGID {
    /// The batch of the downloads added through aria2's interface.
    static let batch = "aria2"

    static func name(_ entry: JobEntry) -> String {
        entry.batch == batch && isOne(entry.listed.job) ? entry.listed.job : JobNumberCode.job.name(entry.number)
    }

    /// Returns whether a text is 16 hexadecimal digits, as in a gid chosen by a client.
    static func isOne(_ text: String) -> Bool {
        text.utf8.count == 16 && text.allSatisfy { $0.isHexDigit && $0.isASCII }
    }
}

/// The exit codes in aria2's manual, by which its clients learn why a download failed.
enum AriaErrorCode {
    static func number(_ job: ListedJob) -> Int {
        if job.state == .cancelled { return 31 }
        guard job.state == .failed || job.state == .skipped else { return 0 }
        return switch job.code.map(TransferError.Code.init(rawValue:)) {
        case .timedOut: 2
        case .httpStatus where job.status == 404 || job.status == 410: 3
        case .httpStatus where job.status == 401 || job.status == 403: 24
        case .httpStatus, .badResponse: 22
        case .tooSlow: 5
        case .connectionLost, .cannotConnect, .networkChanged, .originUnreachable, .addressRefused: 6
        case .diskFull: 9
        case .fileExists: 13
        case .fileAccess: 16
        case .cannotResolveHost: 19
        case .tooManyRedirects: 23
        case .loginRefused: 24
        case .checksumMismatch: 32
        default: 1
        }
    }
}
