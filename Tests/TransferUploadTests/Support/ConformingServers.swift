import TransferCore
import TransferTestServer

@testable import TransferUpload

/// A server of one of the protocols, and the files that it has at the end.
protocol ConformingServer: UploadService {
    var wholeFiles: [[UInt8]] { get }
    /// The number of incomplete uploads of which the server keeps bytes.
    var unfinished: Int { get }
    /// Removes a complete file, as a user of the server would.
    mutating func takeAway(_ content: [UInt8])
}

/// Any of the servers, for stories.
struct AnyConformingServer: UploadService {
    var server: any ConformingServer
    /// The content that is removed as soon as it is complete, and the number of removals.
    var takes: [UInt8]?
    var taken = 0

    mutating func begin(_ id: Int, method: String, target: String, headers: HeaderFields) -> UploadServiceStep {
        server.begin(id, method: method, target: target, headers: headers)
    }

    mutating func receive(_ id: Int, _ bytes: [UInt8]) -> [Response] { server.receive(id, bytes) }

    mutating func end(_ id: Int, isWhole: Bool) -> Response {
        defer { take() }
        return server.end(id, isWhole: isWhole)
    }

    private mutating func take() {
        guard let takes, server.wholeFiles.contains(takes) else { return }
        taken += server.wholeFiles.count { $0 == takes }
        server.takeAway(takes)
    }
}

extension TusService: ConformingServer {
    var wholeFiles: [[UInt8]] { finished.map(\.bytes) }
    var unfinished: Int { uploads.count - finished.count }

    mutating func takeAway(_ content: [UInt8]) {
        for upload in finished where upload.bytes == content { forget(upload.id) }
    }
}

extension ResumableService: ConformingServer {
    var wholeFiles: [[UInt8]] { Array(objects.values) }

    mutating func takeAway(_ content: [UInt8]) {
        forgetObjects()
        forgetUploads()
    }
}

extension FileModel: ConformingServer {
    var wholeFiles: [[UInt8]] { files.filter { !$0.key.hasSuffix(".part") }.map(\.value.bytes) }
    var unfinished: Int { files.count { $0.key.hasSuffix(".part") } }

    mutating func takeAway(_ content: [UInt8]) { files = files.filter { $0.value.bytes != content } }
}

/// A server that accepts complete bodies. Folders have to be made before their files.
struct PlainServer: ConformingServer {
    private struct Taking {
        let method: String
        let target: String
        var body: [UInt8] = []
    }

    private var folders: Set<String>
    private var files: [String: [UInt8]] = [:]
    private var posts: [[UInt8]] = []
    private var taking: [Int: Taking] = [:]
    let unfinished = 0

    init(folders: Set<String> = ["/", "/in/"]) { self.folders = folders }

    var wholeFiles: [[UInt8]] { files.values + posts }

    mutating func begin(_ id: Int, method: String, target: String, headers: HeaderFields) -> UploadServiceStep {
        let isMissing = !folders.contains(Self.parent(of: target))
        switch method {
        case "HEAD", "GET":
            guard let file = files[target] else { return .answer(Response(status: 404)) }
            var answer = Response(status: 200)
            answer.headers.add("Content-Length", "\(file.count)")
            if method == "GET" { answer.body = .bytes(file) }
            return .answer(answer)
        case "MKCOL":
            if isMissing { return .answer(Response(status: 409)) }
            return .answer(Response(status: folders.insert(target).inserted ? 201 : 405))
        case "PUT" where isMissing: return .answer(Response(status: 409))
        case "PUT", "POST":
            taking[id] = Taking(method: method, target: target)
            return .read()
        default: return .answer(Response(status: 405))
        }
    }

    mutating func receive(_ id: Int, _ bytes: [UInt8]) -> [Response] {
        taking[id]?.body += bytes
        return []
    }

    mutating func end(_ id: Int, isWhole: Bool) -> Response {
        guard let taken = taking.removeValue(forKey: id), isWhole else { return Response(status: 400) }
        if taken.method == "PUT" { files[taken.target] = taken.body } else { posts.append(Self.file(taken.body)) }
        return Response(status: 201)
    }

    /// Returns the file of a multipart form whose last part it is, or the whole of another body.
    private static func file(_ body: [UInt8]) -> [UInt8] {
        guard body.starts(with: "--".utf8), let end = body.lastRange(of: Array("\r\n--".utf8)),
            let start = Array(body[..<end.lowerBound]).lastRange(of: Array("\r\n\r\n".utf8))
        else { return body }
        return Array(body[start.upperBound..<end.lowerBound])
    }

    mutating func takeAway(_ content: [UInt8]) {
        files = files.filter { $0.value != content }
        posts.removeAll { $0 == content }
    }

    private static func parent(of target: String) -> String {
        let name = target.hasSuffix("/") ? target.dropLast() : Substring(target)
        return String(name.prefix(through: name.lastIndex(of: "/") ?? name.startIndex))
    }
}

extension [UInt8] {
    fileprivate func lastRange(of bytes: [UInt8]) -> Range<Int>? {
        indices.last { self[$0...].starts(with: bytes) }.map { $0..<$0 + bytes.count }
    }
}

/// The model of S3 as a conforming server.
struct S3Server: ConformingServer {
    private struct Taking {
        var request: UploadRequest
        var body: [UInt8] = []
    }

    private var model = S3Model()
    private var taking: [Int: Taking] = [:]

    /// - Parameter clock: The time in seconds since 1970.
    init(clock: Int64) { model.clock = clock }

    var wholeFiles: [[UInt8]] { model.objects.values.map(\.bytes) }
    var unfinished: Int { model.openUploads }

    mutating func takeAway(_ content: [UInt8]) { model.takeAway(content) }

    mutating func begin(_ id: Int, method: String, target: String, headers: HeaderFields) -> UploadServiceStep {
        let fields = headers.fields.map { HeaderField($0.name, $0.value) }
        taking[id] = Taking(
            request: UploadRequest(id: id, method: method, url: "https://s3.example" + target, headers: fields))
        return .read()
    }

    mutating func receive(_ id: Int, _ bytes: [UInt8]) -> [Response] {
        taking[id]?.body += bytes
        return []
    }

    mutating func end(_ id: Int, isWhole: Bool) -> Response {
        guard let taken = taking.removeValue(forKey: id), isWhole,
            let reply = try? model.reply(taken.request, taken.body)
        else { return Response(status: 500) }
        var answer = Response(status: reply.status)
        for field in reply.fields { answer.headers.add(field.name, field.value) }
        if taken.request.method != "HEAD" { answer.body = .text(reply.body) }
        return answer
    }
}
