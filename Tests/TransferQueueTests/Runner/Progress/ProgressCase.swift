import Testing
import TransferCore
import TransferQueueFixtures
import TransferTestServer
import TransferTestSupport

@testable import TransferJobs

/// A kind of transfer, with a server that stops in the middle until it is released.
enum ProgressCase: String, CaseIterable, Sendable, CustomTestStringConvertible {
    case smallDownload = "a small download"
    case largeDownload = "a large download"
    case segmented = "a download over several connections"
    case sources = "a download from several sources"
    case resumed = "a download that goes on"
    case put = "PUT"
    case post = "POST"
    case tus
    case ietf = "the IETF's resumable upload"
    case s3 = "S3, one request"
    case s3Parts = "S3, parts side by side"
    case folders = "PUT that makes folders"
    case ftp = "FTP"
    case copy = "a copy"

    var testDescription: String { rawValue }

    /// The size of the file, in bytes.
    var count: Int {
        switch self {
        case .smallDownload: 60_000
        case .largeDownload: 3_000_000
        case .segmented, .sources: 8 << 20
        case .s3Parts: 12 << 20
        default: 4_000_000
        }
    }

    /// The number of bytes that have moved when the server stops.
    var stop: Int64 {
        switch self {
        case .smallDownload: 20_000
        case .segmented, .sources: 1_000_000
        case .s3Parts: 2_000_000
        default: 300_000
        }
    }

    /// The number of bytes beyond the stop that may have arrived: the content of the receive buffer of the server's
    /// socket.
    static let slack: Int64 = 128 << 10

    var isUpload: Bool {
        switch self {
        case .smallDownload, .largeDownload, .segmented, .sources, .resumed: false
        default: true
        }
    }

    /// Whether the bytes before the stop are transferred once more.
    var repeats: Bool { self == .ftp || self == .segmented || self == .sources }

    func job(_ servers: [TestServer], _ ftp: FTPScriptServer, _ folder: TemporaryFolder) throws -> JobSpec {
        let server = servers[0]
        var settings = Sample.quick
        let content = Content.random(seed: 7, count: Int64(count))
        guard isUpload else {
            for server in servers { server.serve("/x", content, etag: "\"1\"") }
            switch self {
            case .segmented: server.script("/x", [], afterwards: .stall(after: stop / 2))
            case .sources: for server in servers { server.script("/x", [], afterwards: .stall(after: stop)) }
            case .resumed: server.script("/x", [.cut(after: 1_000_000), .stall(after: stop)])
            default: server.script("/x", [.stall(after: stop)])
            }
            let urls = self == .sources ? servers.map { $0.url("/x") } : [server.url("/x")]
            let segments: SegmentCount = self == .segmented || self == .sources ? .exactly(2) : .exactly(1)
            return JobSpec(
                id: "f",
                work: .download(JobSpec.Download(urls: urls, destination: folder.path("x"), segments: segments)),
                settings: settings)
        }
        try folder.write(count: count, seed: 7, to: "f")
        server.limitReceiveBuffer(16 << 10)
        let (kind, url) = place(server, ftp)
        let bodies = ["PUT", "POST", "PATCH"]
        let stall = Fault.stallUpload(after: self == .s3Parts ? stop / 2 : stop)
        server.script(
            "body",
            for: { head in
                bodies.contains(head.method) && (head.headers["Content-Length"].flatMap { Int($0) } ?? 1) > 100_000
            }, self == .s3Parts ? [stall, stall] : [stall])
        ftp.script("STOR", [.cut(after: stop, reply: nil)])
        if self == .copy {
            server.serve("/source", content, etag: "\"1\"")
            let source = CopySource(
                JobSpec.Download(urls: [server.url("/source")], destination: ""), settings: settings)
            return JobSpec(
                id: "f", work: .upload(JobSpec.Upload(from: source, url: url, uploadProtocol: kind)), settings: settings
            )
        }
        var upload = JobSpec.Upload(source: folder.path("f"), url: url, uploadProtocol: kind)
        if self == .ietf { upload.method = "PUT" }
        if self == .folders { upload.options.createFolders = true }
        if self == .s3Parts {
            upload.options.chunkSize = 5 << 20
            upload.options.parallel = 2
        }
        if kind == .s3 { settings.s3 = .scripted(server) }
        return JobSpec(id: "f", work: .upload(upload), settings: settings)
    }

    private func place(_ server: TestServer, _ ftp: FTPScriptServer) -> (JobSpec.UploadProtocol, String) {
        switch self {
        case .tus:
            server.serve("/files*", TusService(endpoint: "/files"))
            return (.tus, server.url("/files"))
        case .ietf:
            server.serve("/*", ResumableService())
            return (.resumable, server.url("/in/f"))
        case .s3, .s3Parts:
            server.serve("/*", ObjectStore())
            return (.s3, "s3://b/f")
        case .ftp: return (.ftp, ftp.url("/in/f"))
        default:
            server.serve("/in/*", PlainStore())
            return (self == .post ? .post : .put, server.url("/in/f"))
        }
    }
}
