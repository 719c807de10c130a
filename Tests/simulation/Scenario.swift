import Glibc
import Logging
import TransferCore
import TransferJobs

@testable import TransferQueue
@testable import TransferStore

/// The servers, files and jobs of one run, made by its seed.
struct Scenario {
    enum Work {
        case download(server: String, path: String)
        case upload(server: String, path: String, method: String)
    }

    struct Job {
        let name: String
        let work: Work
        let spec: JobSpec
        /// The local file.
        let place: String
        /// The uploaded bytes.
        var bytes: [UInt8] = []
    }

    let folder: String
    private(set) var jobs: [Job] = []
    let network = NetworkModel()

    init(folder: String) {
        self.folder = folder
        let world = World.current
        network.troubles = world.oneOf([0, 5, 15, 30])
        let hosts = (1...world.between(1, 3)).map { "127.0.0.1:\(8000 + $0)" }
        for host in hosts {
            let server = ServerModel()
            server.tus.forgetsWhole = world.chance(1, in: 4)
            network.servers[host] = server
        }
        for number in 1...world.between(1, 12) {
            let host = world.oneOf(hosts)
            if world.chance(2, in: 3) { addDownload(number, host) } else { addUpload(number, host) }
        }
    }

    private mutating func addDownload(_ number: Int, _ host: String) {
        let world = World.current
        let path = "/file\(number)"
        let hasTag = world.chance(3, in: 4)
        // Only a tag shows then which version a part is of.
        let manners: [ServerModel.Manner] = hasTag ? [.ignoresConditions, .refusesRanges(403)] : [.refusesRanges(405)]
        network.servers[host]?.add(
            path, Self.bytes(), takesRanges: world.chance(3, in: 4), hasTag: hasTag,
            manner: world.chance(1, in: 5) ? world.oneOf(manners) : .right)
        let place = "\(folder)/in/file\(number)"
        jobs.append(
            Job(
                name: "d\(number)", work: .download(server: host, path: path),
                spec: .download("http://\(host)\(path)", to: place, id: "d\(number)", settings: Self.settings()),
                place: place))
    }

    private mutating func addUpload(_ number: Int, _ host: String) {
        let world = World.current
        let kind = world.oneOf(["PUT", "POST", "tus", "s3"])
        let path = kind == "tus" ? "/tus/sent\(number)" : kind == "s3" ? "/bucket/sent\(number)" : "/sent\(number)"
        let place = "\(folder)/out\(number)"
        // Only a large file has several parts.
        let isLarge = kind == "s3" && world.chance(1, in: 10)
        let bytes = isLarge ? Self.bytes(world.between(5 << 20, 11 << 20)) : Self.bytes()
        FileText.write(bytes, to: place)
        var settings = Self.settings()
        if kind == "s3" {
            var access = JobSettings.S3Access()
            access.endpoint = "http://\(host)"
            if world.chance(1, in: 4) { access.integrity = world.oneOf([JobSettings.S3Access.Integrity.md5, .none]) }
            settings.s3 = access
        }
        let protocols: [String: JobSpec.UploadProtocol] = ["PUT": .put, "POST": .post, "tus": .tus, "s3": .s3]
        var spec = JobSpec.upload(
            place, to: kind == "s3" ? "s3:/\(path)" : "http://\(host)\(path)", id: "u\(number)",
            uploadProtocol: protocols[kind], settings: settings)
        if case .upload(var upload) = spec.work {
            if ["tus", "s3"].contains(kind), world.chance(1, in: 2) {
                upload.options.chunkSize = Int64(world.between(1_000, 200_000))
            }
            if kind == "tus" { upload.options.tus.createsWithUpload = world.chance(1, in: 4) }
            spec.work = .upload(upload)
        }
        jobs.append(
            Job(
                name: "u\(number)", work: .upload(server: host, path: path, method: kind), spec: spec, place: place,
                bytes: bytes))
    }

    /// Makes the queue of a process.
    func makeQueue(over store: any JobStore & RunMemory) throws -> JobQueue {
        let logger = Logger(label: "simulation") { _ in SwiftLogNoOpLogHandler() }
        var configuration = QueueConfiguration(state: folder + "/state", logger: logger)
        configuration.secrets = Self.secrets
        configuration.random = { Double(World.current.between(0, 999)) / 1000 }
        return try JobQueue(configuration, store: store, history: nil, engine: try SimulatedEngine(network))
    }

    /// Plans what happens to the servers: a file gets another version, uploads are lost.
    func planChanges(_ say: @escaping (String) -> Void) {
        let world = World.current
        if world.chance(1, in: 4), let job = jobs.randomElement(using: &world.random),
            case .download(let server, let path) = job.work
        {
            world.after(world.moment()) { [network] in
                say("\(path) changes")
                Coverage.add(.versionChanged)
                network.servers[server]?.replace(path, by: Self.bytes())
            }
        }
        guard world.chance(1, in: 8) else { return }
        world.after(world.moment()) { [network] in
            say("the servers lose unfinished uploads")
            Coverage.add(.uploadsLost)
            for server in network.servers.values { server.forgetUploads() }
        }
    }

    /// The access keys of the object servers.
    static let secrets = SecretSource(environment: { name in
        ["AWS_ACCESS_KEY_ID": "key", "AWS_SECRET_ACCESS_KEY": "secret"][name]
    })

    private static func settings() -> JobSettings {
        var settings = JobSettings()
        if World.current.chance(1, in: 2) { settings.retry.limit = World.current.between(0, 5) }
        return settings
    }

    static func bytes() -> [UInt8] {
        let world = World.current
        let size =
            switch world.between(0, 5) {
            case 0: 0
            case 1: world.between(1, 100)
            case 2, 3: world.between(1_000, 40_000)
            case 4: world.between(40_000, 200_000)
            default: world.between(200_000, 600_000)
            }
        return bytes(size)
    }

    static func bytes(_ size: Int) -> [UInt8] {
        let world = World.current
        return [UInt8](unsafeUninitializedCapacity: size) { buffer, count in
            var index = 0
            while index + 8 <= size {
                UnsafeMutableRawBufferPointer(buffer).storeBytes(
                    of: world.random.next(), toByteOffset: index, as: UInt64.self)
                index += 8
            }
            let word = world.random.next()
            for rest in index..<size { buffer[rest] = UInt8(truncatingIfNeeded: word >> (8 * UInt64(rest - index))) }
            count = size
        }
    }
}

/// Whole files of a run's folder.
enum FileText {
    static func write(_ bytes: [UInt8], to path: String) {
        let descriptor = open(path, O_CREAT | O_WRONLY | O_TRUNC, 0o644)
        precondition(descriptor >= 0, "cannot write \(path): \(errno)")
        bytes.withUnsafeBytes { _ = Glibc.write(descriptor, $0.baseAddress, $0.count) }
        close(descriptor)
    }

    static func read(_ path: String) -> [UInt8]? {
        let descriptor = open(path, O_RDONLY)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { return nil }
        var bytes = [UInt8](repeating: 0, count: Int(status.st_size))
        let count = bytes.withUnsafeMutableBytes { Glibc.read(descriptor, $0.baseAddress, $0.count) }
        return count == bytes.count ? bytes : nil
    }

    static func names(in folder: String) -> [String] {
        guard let stream = opendir(folder) else { return [] }
        defer { closedir(stream) }
        var names: [String] = []
        while let entry = readdir(stream) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                $0.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names.sorted()
    }
}
