import TransferCore

/// A server of files over HTTP, as a value that knows what it has and what it received.
final class ServerModel {
    /// A version of a file.
    struct Version {
        let bytes: [UInt8]
        let tag: String
        let modified: Int64
    }

    /// A file of a server, with all of its versions so far.
    struct File {
        var versions: [Version]
        let takesRanges: Bool
        let hasTag: Bool
        /// The way in which the server treats If-Range and ranges that it does not like.
        var manner = Manner.right

        var current: Version { versions[versions.count - 1] }
    }

    /// Known manners of servers.
    enum Manner {
        case right
        /// A range is answered with a part, whatever version it was asked for.
        case ignoresConditions
        /// A request with a range is refused with this status.
        case refusesRanges(Int)
    }

    struct Request {
        let method: String
        let host: String
        /// The path with the query.
        let path: String
        let headers: [HeaderField]
        let body: [UInt8]
    }

    struct Answer {
        var status: Int
        var fields: [HeaderField] = []
        var body: [UInt8] = []
    }

    var files: [String: File] = [:]
    /// The whole bodies that came by PUT or POST, in their order.
    private(set) var arrivals: [(method: String, path: String, body: [UInt8])] = []
    let tus = TusModel()
    let s3 = ObjectModel()
    private var lastTag = 0

    func add(_ path: String, _ bytes: [UInt8], takesRanges: Bool, hasTag: Bool, manner: Manner = .right) {
        files[path] = File(versions: [version(bytes)], takesRanges: takesRanges, hasTag: hasTag, manner: manner)
    }

    /// Lets the server lose all uploads that are not whole.
    func forgetUploads() {
        tus.forget()
        s3.forget()
    }

    func replace(_ path: String, by bytes: [UInt8]) { files[path]?.versions.append(version(bytes)) }

    private func version(_ bytes: [UInt8]) -> Version {
        lastTag += 1
        // A version is older than any answer, as a date is a strong validator only then (RFC 9110 §8.8.2.2).
        return Version(bytes: bytes, tag: "\"v\(lastTag)\"", modified: 1_600_000_000 + Int64(lastTag) * 100)
    }

    /// Takes the beginning of a request, whose connection was lost.
    func begin(_ request: Request) {
        guard request.path.hasPrefix("/tus/"), let whole = tus.take(request) else { return }
        arrivals.append(("tus", whole.path, whole.body))
    }

    func answer(_ request: Request) -> Answer {
        if request.path.hasPrefix("/tus/") {
            let (answer, whole) = tus.answer(request)
            if let whole { arrivals.append(("tus", whole.path, whole.body)) }
            return answer
        }
        if request.path.hasPrefix("/bucket") {
            let (answer, whole) = s3.answer(request)
            if let whole { arrivals.append(("s3", whole.path, whole.body)) }
            return answer
        }
        switch request.method {
        case "GET", "HEAD": return served(request)
        case "PUT", "POST":
            arrivals.append((request.method, request.path, request.body))
            if request.method == "PUT" {
                let isNew = files[request.path] == nil
                if isNew {
                    add(request.path, request.body, takesRanges: true, hasTag: true)
                } else {
                    replace(request.path, by: request.body)
                }
                let tag = files[request.path].map { [HeaderField("ETag", $0.current.tag)] } ?? []
                return Answer(status: isNew ? 201 : 204, fields: tag + [HeaderField("Content-Length", "0")])
            }
            return Answer(status: 201, fields: [HeaderField("Content-Length", "0")])
        default: return Answer(status: 405, fields: [HeaderField("Allow", "GET, HEAD, PUT, POST")])
        }
    }

    private func served(_ request: Request) -> Answer {
        guard let file = files[request.path] else {
            return Answer(status: 404, fields: [HeaderField("Content-Length", "0")])
        }
        let version = file.current
        var answer = Answer(status: 200)
        if file.hasTag { answer.fields.append(HeaderField("ETag", version.tag)) }
        answer.fields.append(HeaderField("Last-Modified", HTTPDate.format(version.modified)))
        answer.fields.append(HeaderField("Date", HTTPDate.format(WallTime.seconds)))
        if file.takesRanges { answer.fields.append(HeaderField("Accept-Ranges", "bytes")) }
        answer.body = version.bytes
        if let match = request.headers.value("If-None-Match"), file.hasTag, match == version.tag {
            return Answer(status: 304, fields: answer.fields)
        }
        if let match = request.headers.value("If-Match"), !file.hasTag || match != version.tag {
            return Answer(status: 412, fields: [HeaderField("Content-Length", "0")])
        }
        if case .refusesRanges(let status) = file.manner, request.headers.value("Range") != nil {
            return Answer(status: status, fields: [HeaderField("Content-Length", "0")])
        }
        if file.takesRanges, let range = request.headers.value("Range"), isMeant(request, version, file) {
            answer = ranged(answer, range, version)
        }
        answer.fields.append(HeaderField("Content-Length", "\(answer.body.count)"))
        if request.method == "HEAD" { answer.body = [] }
        return answer
    }

    private func isMeant(_ request: Request, _ version: Version, _ file: File) -> Bool {
        if case .ignoresConditions = file.manner { return true }
        guard let condition = request.headers.value("If-Range") else { return true }
        return file.hasTag && condition == version.tag || condition == HTTPDate.format(version.modified)
    }

    private func ranged(_ whole: Answer, _ range: String, _ version: Version) -> Answer {
        let bounds = range.dropFirst("bytes=".count).split(separator: "-", omittingEmptySubsequences: false)
        guard bounds.count == 2, let first = Int(bounds[0]) else { return whole }
        let size = version.bytes.count
        guard first < size else {
            return Answer(
                status: 416,
                fields: [HeaderField("Content-Range", "bytes */\(size)"), HeaderField("ETag", version.tag)])
        }
        let last = min(Int(bounds[1]) ?? size - 1, size - 1)
        guard last >= first else { return whole }
        var part = whole
        part.status = 206
        part.fields.append(HeaderField("Content-Range", "bytes \(first)-\(last)/\(size)"))
        part.body = Array(version.bytes[first...last])
        return part
    }
}

/// The wall clock of the world.
enum WallTime {
    static var seconds: Int64 { (World.current.now + World.current.wallOffset) / 1_000_000_000 }
}
