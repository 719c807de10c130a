import Glibc
import TransferCore
import TransferJobs

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
        for host in hosts { network.servers[host] = ServerModel() }
        for number in 1...world.between(1, 12) {
            let host = world.oneOf(hosts)
            if world.chance(2, in: 3) { addDownload(number, host) } else { addUpload(number, host) }
        }
    }

    private mutating func addDownload(_ number: Int, _ host: String) {
        let world = World.current
        let path = "/file\(number)"
        network.servers[host]?.add(
            path, Self.bytes(), takesRanges: world.chance(3, in: 4), hasTag: world.chance(3, in: 4))
        let place = "\(folder)/in/file\(number)"
        jobs.append(
            Job(
                name: "d\(number)", work: .download(server: host, path: path),
                spec: .download("http://\(host)\(path)", to: place, id: "d\(number)", settings: Self.settings()),
                place: place))
    }

    private mutating func addUpload(_ number: Int, _ host: String) {
        let world = World.current
        let isPut = world.chance(1, in: 2)
        let path = "/sent\(number)"
        let place = "\(folder)/out\(number)"
        let bytes = Self.bytes()
        FileText.write(bytes, to: place)
        jobs.append(
            Job(
                name: "u\(number)", work: .upload(server: host, path: path, method: isPut ? "PUT" : "POST"),
                spec: .upload(
                    place, to: "http://\(host)\(path)", id: "u\(number)", uploadProtocol: isPut ? .put : .post,
                    settings: Self.settings()),
                place: place, bytes: bytes))
    }

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
        var (bytes, word) = ([UInt8](repeating: 0, count: size), UInt64(0))
        for index in bytes.indices {
            if index % 8 == 0 { word = world.random.next() }
            bytes[index] = UInt8(truncatingIfNeeded: word >> (8 * UInt64(index % 8)))
        }
        return bytes
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
