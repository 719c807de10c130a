public import Foundation
internal import Glibc

/// A new empty folder, which is removed with its content when the last reference goes, or earlier by `remove()`.
///
/// With `TRANSFER_KEEP_TEMPORARY=1` the folder is kept, for the inspection of a failed test.
public final class TemporaryFolder: Sendable {
    /// The absolute path, without symbolic links.
    public let path: String

    /// - Parameter name: A part of the folder's name, which identifies the owner of a leftover folder.
    public init(_ name: String = "test") throws {
        let base = ProcessInfo.processInfo.environment["TMPDIR"] ?? "/tmp"
        var template = Array("\(base)/transfer-\(name).XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw TestSupportError.system("mkdtemp in \(base)", errno) }
        let made = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        path = URL(fileURLWithPath: made).resolvingSymlinksInPath().path
    }

    deinit { remove() }

    /// Removes the folder now. A second call has no effect.
    public func remove() {
        guard ProcessInfo.processInfo.environment["TRANSFER_KEEP_TEMPORARY"] == nil else { return }
        // The removal is repeated if a file vanished meanwhile, such as the pid file of a server that ends. Foundation
        // reports that as an error, and keeps the rest.
        for _ in 0..<3 where FileManager.default.fileExists(atPath: path) {
            try? FileManager.default.removeItem(atPath: path)
        }
    }

    /// Returns the absolute path of an entry of the folder, without making it.
    public func path(_ relative: String) -> String {
        path + "/" + relative
    }

    /// Makes a folder with its parents, and returns its absolute path.
    @discardableResult
    public func folder(_ relative: String) throws -> String {
        let full = path(relative)
        try FileManager.default.createDirectory(atPath: full, withIntermediateDirectories: true)
        return full
    }

    /// Writes a file with its parent folders, and returns its absolute path.
    @discardableResult
    public func write(_ contents: Data, to relative: String) throws -> String {
        let full = path(relative)
        let parent = URL(fileURLWithPath: full).deletingLastPathComponent().path
        try FileManager.default.createDirectory(atPath: parent, withIntermediateDirectories: true)
        try contents.write(to: URL(fileURLWithPath: full))
        return full
    }

    @discardableResult
    public func write(_ text: String, to relative: String) throws -> String {
        try write(Data(text.utf8), to: relative)
    }

    /// Writes `count` incompressible bytes, which depend only on the seed, without holding them in memory.
    @discardableResult
    public func write(count: Int, seed: UInt64, to relative: String) throws -> String {
        let full = try write(Data(), to: relative)
        guard let file = FileHandle(forWritingAtPath: full) else { throw TestSupportError("cannot write \(full)") }
        defer { try? file.close() }
        var generator = SampleBytes(seed: seed)
        var left = count
        while left > 0 {
            let part = min(left, 1 << 20)
            try file.write(contentsOf: generator.next(part))
            left -= part
        }
        return full
    }

    public func data(_ relative: String) throws -> Data {
        try Data(contentsOf: URL(fileURLWithPath: path(relative)))
    }

    public func text(_ relative: String) throws -> String {
        String(decoding: try data(relative), as: UTF8.self)
    }

    public func exists(_ relative: String) -> Bool {
        FileManager.default.fileExists(atPath: path(relative))
    }

    /// Returns the size in bytes; `nil` if there is no such file.
    public func size(_ relative: String) -> Int64? {
        var status = stat()
        return stat(path(relative), &status) == 0 ? Int64(status.st_size) : nil
    }

    /// Sets the times of a file by its path (utimensat(2)), like rsync(1), without opening the file.
    public func setTime(_ relative: String, seconds: Int, nanoseconds: Int = 0) throws {
        let code = Self.withTimes(seconds, nanoseconds) { utimensat(AT_FDCWD, path(relative), $0, 0) }
        guard code == 0 else { throw TestSupportError("cannot set the time of \(relative): \(errno)") }
    }

    /// Overwrites a file, and sets its time before closing it, as tag editors do.
    public func rewrite(_ relative: String, _ text: String, seconds: Int) throws {
        let descriptor = open(path(relative), O_WRONLY | O_TRUNC)
        guard descriptor >= 0 else { throw TestSupportError("cannot open \(relative): \(errno)") }
        defer { close(descriptor) }
        let bytes = Array(text.utf8)
        let count = Glibc.write(descriptor, bytes, bytes.count)
        let code = Self.withTimes(seconds, 0) { futimens(descriptor, $0) }
        guard count == bytes.count, code == 0 else { throw TestSupportError("cannot rewrite \(relative): \(errno)") }
    }

    /// Sets the times of a file like touch(1), with the file open for writing.
    public func touch(_ relative: String, seconds: Int) throws {
        let descriptor = open(path(relative), O_WRONLY)
        guard descriptor >= 0 else { throw TestSupportError("cannot open \(relative): \(errno)") }
        defer { close(descriptor) }
        let code = Self.withTimes(seconds, 5) { futimens(descriptor, $0) }
        guard code == 0 else { throw TestSupportError("cannot set the time of \(relative): \(errno)") }
    }

    /// Passes two `struct timespec`, as two numbers each: release builds hide their members.
    private static func withTimes(
        _ seconds: Int, _ nanoseconds: Int, _ set: (UnsafePointer<timespec>?) -> Int32
    ) -> Int32 {
        [seconds, nanoseconds, seconds, nanoseconds].withUnsafeBytes {
            set($0.baseAddress?.assumingMemoryBound(to: timespec.self))
        }
    }

    /// Returns the relative paths of all files below the folder, sorted and without folders.
    public func files(below relative: String = "") throws -> [String] {
        let start = relative.isEmpty ? path : path(relative)
        return try FileManager.default.subpathsOfDirectory(atPath: start).filter { name in
            var status = stat()
            return lstat(start + "/" + name, &status) == 0 && status.st_mode & S_IFMT != S_IFDIR
        }.sorted()
    }

    /// Returns the SHA-256 of a file in lower-case hexadecimal, by the `sha256sum` command. The command reads 1 GiB in
    /// a second or two in any build, and shares no code with the tested one.
    public func sha256(_ relative: String) async throws -> String {
        let command = ChildProcess.Command("/usr/bin/sha256sum", ["--", path(relative)], timeout: .seconds(120))
        let result = try await ChildProcess.start(command).result()
        guard result.status == .exited(0), let digest = result.standardOutput.split(separator: " ").first else {
            throw TestSupportError("sha256sum: \(result.standardError)")
        }
        // A name with a backslash or a newline is escaped, and then the line begins with a backslash.
        return String(digest.drop { $0 == "\\" })
    }
}

/// Pseudo-random bytes that follow from the seed (SplitMix64).
public struct SampleBytes: Sendable {
    private var state: UInt64

    public init(seed: UInt64) { state = seed }

    public mutating func next(_ count: Int) -> Data {
        var words = [UInt64](repeating: 0, count: (count + 7) / 8)
        for index in words.indices {
            state &+= 0x9E37_79B9_7F4A_7C15
            var mixed = state
            mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
            mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
            words[index] = mixed ^ (mixed >> 31)
        }
        return words.withUnsafeBytes { Data($0.prefix(count)) }
    }
}
