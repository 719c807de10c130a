import TransferTestServer
import TransferUpload

/// A model of a file server as the engine presents it to dialogues: names with bytes and times.
struct FileModel: UploadService {
    struct File: Equatable {
        var bytes: [UInt8]
        var modified: Int64
        var etag: String { "\"\(bytes.count)-\(modified)\"" }
    }

    var files: [String: File] = [:]
    /// Whether a rename replaces an existing file (FTP) or is refused (SFTP).
    var replaces = true
    var tellsLengths = true
    var tellsTimes = true
    /// The status of the answer to every HEAD, for example 403 from a server that refuses look-ups; `nil` for real
    /// answers.
    var looks: Int?
    /// Whether files may be renamed and removed, and not only stored.
    var letsRename = true
    /// Whether files may be removed, be hidden, and be overwritten.
    var letsDelete = true
    var letsHide = true
    var letsOverwrite = true
    /// The modification time that each file was given last.
    private(set) var times: [String: String] = [:]
    /// Whether the answer to a PUT reports how many bytes the server has.
    var confirms = false
    /// Whether files can be fetched.
    var letsRead = true
    private(set) var removed: [String] = []
    private var clock: Int64 = 1_600_000_000
    private var writing: [Int: String] = [:]

    mutating func begin(_ id: Int, method: String, target: String, headers: HeaderFields) -> UploadServiceStep {
        clock += 1
        switch method {
        case "HEAD":
            if let looks { return .answer(Response(status: looks)) }
            guard let file = files[target] else { return .answer(Response(status: 404)) }
            var answer = Response(status: 200)
            if tellsLengths { answer.headers.add("Content-Length", "\(file.bytes.count)") }
            if tellsTimes, tellsLengths { answer.headers.add("ETag", file.etag) }
            return .answer(answer)
        case "GET":
            guard let file = files[target] else { return .answer(Response(status: 404)) }
            guard letsRead else { return .answer(Response(status: 403)) }
            let start = headers["Range"].flatMap { Int($0.dropFirst("bytes=".count).dropLast()) } ?? 0
            var answer = Response(status: start > 0 ? 206 : 200)
            answer.body = .bytes(Array(file.bytes[start...]))
            return .answer(answer)
        case "PUT" where !letsHide && Self.isHidden(target), "PUT" where !letsOverwrite && files[target] != nil:
            return .answer(Response(status: 403))
        case "PROPPATCH":
            times[target] = headers["Last-Modified"]
            return .answer(Response(status: 204))
        case "OPTIONS":
            var answer = Response(status: 200)
            let methods = ["HEAD", "PUT"] + (letsRename ? ["MOVE"] : []) + (letsRename && letsDelete ? ["DELETE"] : [])
            answer.headers.add("Allow", methods.joined(separator: ", "))
            return .answer(answer)
        case "PUT": files[target] = File(bytes: [], modified: clock)
        case "PATCH":
            let size = files[target]?.bytes.count ?? 0
            guard headers["Upload-Offset"] == "\(size)" else {
                var answer = Response(status: 409)
                answer.headers.add("Upload-Offset", "\(size)")
                return .answer(answer)
            }
        case "DELETE" where !letsRename || !letsDelete, "MOVE" where !letsRename: return .answer(Response(status: 403))
        case "DELETE":
            guard files.removeValue(forKey: target) != nil else { return .answer(Response(status: 404)) }
            removed.append(target)
            return .answer(Response(status: 204))
        case "MOVE":
            let to = Self.path(headers["Destination"] ?? "")
            guard let file = files[target] else { return .answer(Response(status: 404)) }
            guard replaces || files[to] == nil else { return .answer(Response(status: 409)) }
            files[target] = nil
            files[to] = file
            return .answer(Response(status: 201))
        default: return .answer(Response(status: 400))
        }
        writing[id] = target
        return .read()
    }

    mutating func receive(_ id: Int, _ bytes: [UInt8]) -> [Response] {
        clock += 1
        if let name = writing[id] {
            files[name, default: File(bytes: [], modified: clock)].bytes += bytes
            files[name]?.modified = clock
        }
        return []
    }

    mutating func end(_ id: Int, isWhole: Bool) -> Response {
        let name = writing.removeValue(forKey: id)
        var answer = Response(status: 201)
        if confirms, let name { answer.headers.add("Server-Length", "\(files[name]?.bytes.count ?? 0)") }
        return answer
    }

    static func path(_ url: String) -> String {
        let parts = url.split(separator: "/", maxSplits: 2, omittingEmptySubsequences: true)
        return parts.count == 3 ? "/" + parts[2] : "/"
    }

    private static func isHidden(_ path: String) -> Bool {
        path.split(separator: "/").last?.hasPrefix(".") == true
    }

    /// The hidden file of an upload, with its bytes.
    var part: (name: String, file: File)? {
        files.first { $0.key.hasSuffix(".part") }.map { ($0.key, $0.value) }
    }

    /// Removes the hidden file, as a clean-up on the server would, and returns the number of lost bytes.
    mutating func losePart() -> Int64 {
        guard let part else { return 0 }
        files[part.name] = nil
        return Int64(part.file.bytes.count)
    }
}
