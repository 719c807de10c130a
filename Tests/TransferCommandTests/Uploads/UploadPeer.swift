import Foundation
import Testing
import TransferTestServer
import TransferTestSupport

/// A server for uploads, of any protocol.
protocol UploadPeer: Sendable {
    /// The port on 127.0.0.1 on which it listens.
    var port: UInt16 { get }
    /// Returns the job's `to` and its other members, for the port that leads to the server.
    func target(_ port: UInt16) -> (url: String, members: String)
    /// Returns the SHA-256 of each complete object.
    func objects() async throws -> [String]
    /// Returns the number of uploads that were begun and are not complete.
    func unfinished() async throws -> Int
    /// Deletes the unfinished uploads.
    func expire() async throws
    /// Returns the bytes of each upload, complete or not, where the server shows them.
    func sizes() async throws -> [Int64]
}

extension UploadPeer {
    func sizes() async throws -> [Int64] { [] }
}

/// The peers of the conformance suite, each started anew for a case.
enum UploadPeerKind: String, CaseIterable, Sendable, CustomTestStringConvertible {
    case tus, tuspyserver, moto, rclone, resumable8, resumable6, resumableNIO, offeredPut, offeredPost, offeredWebDAV,
        plainPut, plainPost, webDAV, form

    /// Whether the server sends anything on the body's connection before or during the body.
    var answersBeforeTheBody: Bool { isResuming && !isS3 }
    /// The cuts that end an attempt: parts of S3 are tried again within one.
    var enoughCuts: [FaultRelay.Fault] { Array(repeating: .cut(after: 2 << 20), count: isS3 ? 6 : 1) }
    var isS3: Bool { self == .moto || self == .rclone }
    var isResuming: Bool { self != .plainPut && self != .webDAV && !isPosted }
    /// Whether the upload is one POST, which is not repeated once a byte of it has left.
    var isPosted: Bool { self == .form || self == .plainPost }
    /// Whether the fate of an upload is unknown after its last answer was lost. NIOResumableUpload forgets it with the
    /// connection of the answer, and a POST cannot be queried.
    var leavesDoubt: Bool { self == .resumableNIO || isPosted }
    var isOffered: Bool { [.offeredPut, .offeredPost, .offeredWebDAV].contains(self) }
    var testDescription: String { rawValue }

    /// The available kinds.
    static var available: [UploadPeerKind] {
        allCases.filter { kind in
            switch kind {
            case .tuspyserver, .moto, .rclone: PythonServer.isWanted
            case .resumableNIO: ResumableNIOServer.isWanted
            default: true
            }
        }
    }
    /// The kinds that resume from the server's bytes.
    static var resuming: [UploadPeerKind] { available.filter(\.isResuming) }

    func start() async throws -> any UploadPeer {
        switch self {
        case .tus: try TusPeer()
        case .tuspyserver: try await TuspyserverPeer()
        case .moto: try await MotoPeer()
        case .rclone: try await RclonePeer()
        case .resumable8: try ResumablePeer(.version8, "resumable")
        case .resumable6: try ResumablePeer(.version6, "resumable")
        case .resumableNIO: try await ResumableNIOPeer()
        case .offeredPut: try ResumablePeer(.version8, "put")
        case .offeredPost: try ResumablePeer(.version8, "post")
        case .offeredWebDAV: try ResumablePeer(.version8, "put", more: #", "createFolders": true"#)
        case .plainPut: try await NginxPeer("in/f", makesFolders: true)
        case .plainPost: try PostPeer("post")
        case .webDAV: try await NginxPeer("new/folder/f", makesFolders: false)
        case .form: try PostPeer("multipart")
        }
    }
}

extension Workplace {
    /// Waits until the server's offer during the transfer is stored, as it is of use only then: for the job `f` in
    /// `batch`.
    func waitForTheOffer() async throws {
        try await until("the offer to be written down") {
            try await run("why", "batch/f", "--json").standardOutput.contains(#""sent":"#)
        }
    }
}

private func shell(_ line: String) async throws -> String {
    try await ChildProcess.start(ChildProcess.Command("/bin/sh", ["-c", line])).result().standardOutput
}

private func sum(_ bytes: [UInt8]) async throws -> String { try await digest("sha256", bytes) }

private final class TusPeer: UploadPeer {
    private let server: TestServer
    private let service: ServedUploads<TusService>

    init() throws {
        server = try TestServer()
        service = server.serve("/files*", TusService(endpoint: "/files"))
    }

    deinit { server.stop() }

    var port: UInt16 { server.port }
    func target(_ port: UInt16) -> (url: String, members: String) {
        ("http://127.0.0.1:\(port)/files", #""protocol": "tus""#)
    }
    func objects() async throws -> [String] {
        var sums: [String] = []
        for upload in service.with({ $0.finished }) { sums.append(try await sum(upload.bytes)) }
        return sums
    }
    func unfinished() async throws -> Int { service.with { $0.uploads.count { !$0.isComplete } } }
    func expire() async throws { service.with { $0.forget() } }
}

private final class ResumablePeer: UploadPeer {
    private let server: TestServer
    private let service: ServedUploads<ResumableService>
    private let members: String

    init(_ dialect: ResumableService.Dialect, _ name: String, more: String = "") throws {
        server = try TestServer()
        var service = ResumableService(dialect: dialect)
        // A server that takes an unknown version for a plain request stores the body of a careful creation, which is
        // empty.
        service.refusesOtherVersions = true
        self.service = server.serve("/*", service)
        members = #""protocol": "\#(name)""# + more
    }

    deinit { server.stop() }

    var port: UInt16 { server.port }
    func target(_ port: UInt16) -> (url: String, members: String) { ("http://127.0.0.1:\(port)/in/f", members) }
    func objects() async throws -> [String] {
        var sums: [String] = []
        for bytes in service.with({ $0.finished.map(\.bytes) }) { sums.append(try await sum(bytes)) }
        return sums
    }
    func unfinished() async throws -> Int { service.with { $0.unfinished } }
    func expire() async throws { service.with { $0.forgetUploads() } }
}

/// tuspyserver, a server of other authors.
private final class TuspyserverPeer: UploadPeer {
    private let server: PythonServer
    private let folder: TemporaryFolder

    init() async throws {
        folder = try TemporaryFolder("tuspyserver")
        let files = try folder.folder("files")
        try folder.write(
            """
            from fastapi import FastAPI
            from tuspyserver import create_tus_router
            app = FastAPI()
            app.include_router(create_tus_router(prefix="files", files_dir=\(String(reflecting: files))))

            """, to: "server.py")
        server = try await PythonServer.start(
            { ["-m", "uvicorn", "server:app", "--port", "\($0)", "--no-access-log"] }, in: folder.path,
            mark: "Uvicorn running on")
    }

    var port: UInt16 { server.port }
    func target(_ port: UInt16) -> (url: String, members: String) {
        // The server reports its extensions only at that URL.
        ("http://127.0.0.1:\(port)/files/", #""protocol": "tus""#)
    }

    private func uploads() throws -> [(file: String, isComplete: Bool)] {
        try folder.files().filter { $0.hasPrefix("files/") && $0.hasSuffix(".info") }.map { info in
            let file = String(info.dropLast(5))
            let size = try JSONValue.parse(folder.data(info))["size"]?.int
            return (file, size == folder.size(file))
        }
    }

    func objects() async throws -> [String] {
        var sums: [String] = []
        for upload in try uploads() where upload.isComplete {
            sums.append(try await folder.sha256(upload.file))
        }
        return sums
    }
    func unfinished() async throws -> Int { try uploads().count { !$0.isComplete } }
    func sizes() async throws -> [Int64] { try uploads().map { folder.size($0.file) ?? 0 } }
    func expire() async throws {
        for upload in try uploads() {
            for name in [upload.file, upload.file + ".info"] {
                try FileManager.default.removeItem(atPath: folder.path(name))
            }
        }
    }
}

/// nginx, which accepts a PUT whole or not at all.
private final class NginxPeer: UploadPeer {
    private let server: NginxServer
    private let file: String
    private let members: String

    /// - Parameters:
    ///   - file: The path of the file; the folders above it are created on the way.
    ///   - makesFolders: Whether the server creates them itself.
    init(_ file: String, makesFolders: Bool) async throws {
        var options = NginxServer.Options()
        if makesFolders {
            options.allowsWriting = true
        } else {
            options.location = "dav_methods PUT DELETE MKCOL; client_max_body_size 0;"
        }
        server = try await NginxServer.start(options: options)
        self.file = file
        members = #""protocol": "put""# + (makesFolders ? "" : #", "createFolders": true"#)
    }

    var port: UInt16 { server.port }
    func target(_ port: UInt16) -> (url: String, members: String) {
        ("http://127.0.0.1:\(port)/\(file)", members)
    }
    func objects() async throws -> [String] {
        let path = "\(server.root)/\(file)"
        return FileManager.default.fileExists(atPath: path) ? [try await sha256(ofFile: path)] : []
    }
    func unfinished() async throws -> Int { 0 }
    func expire() async throws {}
}

/// moto, which implements S3 and lists its objects; the signed bytes are checked by `SignatureVersion4Tests`.
private final class MotoPeer: UploadPeer {
    private let server: PythonServer
    private let folder: TemporaryFolder

    init() async throws {
        folder = try TemporaryFolder("moto")
        server = try await PythonServer.start(
            { ["-m", "moto.server", "-H", "127.0.0.1", "-p", "\($0)"] }, in: folder.path, mark: "Running on")
        _ = try await shell("curl -s -S -X PUT http://127.0.0.1:\(server.port)/bucket")
    }

    var port: UInt16 { server.port }
    func target(_ port: UInt16) -> (url: String, members: String) {
        let access = #""endpoint": "http://127.0.0.1:\#(port)", "accessKey": "a", "secretKey": {"file": "secret"}"#
        return ("s3://bucket/dir/f", #""chunkSize": "5M", "parallel": 1, "s3": {\#(access)}"#)
    }

    func objects() async throws -> [String] {
        let list = try await shell("curl -s -S http://127.0.0.1:\(server.port)/bucket?list-type=2")
        guard list.contains("<Key>dir/f</Key>") else { return [] }
        let path = folder.path("object")
        _ = try await shell("curl -s -S -o '\(path)' http://127.0.0.1:\(server.port)/bucket/dir/f")
        return [try await folder.sha256("object")]
    }
    func unfinished() async throws -> Int {
        try await shell("curl -s -S http://127.0.0.1:\(server.port)/bucket?uploads").components(
            separatedBy: "<UploadId>"
        )
        .count - 1
    }
    func expire() async throws {
        let list = try await shell("curl -s -S http://127.0.0.1:\(server.port)/bucket?uploads")
        for piece in list.components(separatedBy: "<UploadId>").dropFirst() {
            let id = piece.prefix { $0 != "<" }
            _ = try await shell(
                "curl -s -S -X DELETE 'http://127.0.0.1:\(server.port)/bucket/dir/f?uploadId=\(id)'")
        }
    }
}
