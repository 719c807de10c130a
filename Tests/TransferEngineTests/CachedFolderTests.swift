import CTransferLinux
import Glibc
import Testing
import TransferTestSupport

@testable import TransferEngine

/// Files in the page cache are opened on the loop itself. All other files are left to workers, which may block.
@Suite(
    .enabled(if: Here.isPossible, "the temporary folder is on no disk of this machine"),
    .timeLimit(.minutes(1)))
struct CachedFolderTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder("cached") }

    private func source(_ path: String, readingUpTo smallSize: Int64 = 4096) throws -> SourceFile? {
        let cached = try #require(CachedFolder(of: folder.path("any")))
        return SourceFile(path, cachedIn: cached, readingUpTo: smallSize)
    }

    /// Opens a file in a few attempts: the kernel refuses a cached look-up while any mount or rename happens on the
    /// machine.
    private func soon(_ path: String, readingUpTo smallSize: Int64 = 4096) throws -> SourceFile? {
        for _ in 0..<1000 {
            if let source = try source(path, readingUpTo: smallSize) { return source }
        }
        return nil
    }

    /// Asks the kernel to drop the only page of a file from memory. The request is advisory (posix_fadvise(2)): a page
    /// that another part of the machine uses stays.
    private func forgetContent(of path: String) throws {
        let descriptor = open(path, O_RDWR)
        defer { close(descriptor) }
        for _ in 0..<10_000 {
            try #require(fsync(descriptor) == 0 && posix_fadvise(descriptor, 0, 0, POSIX_FADV_DONTNEED) == 0)
            let page = mmap(nil, 1, PROT_READ, MAP_SHARED, descriptor, 0)
            try #require(page != MAP_FAILED)
            defer { munmap(page, 1) }
            var isInMemory: UInt8 = 0
            try #require(mincore(page, 1, &isInMemory) == 0)
            if isInMemory & 1 == 0 { return }
        }
        Issue.record("the kernel keeps the file in memory")
    }

    @Test func aSmallFileIsOpenedWithItsContent() throws {
        let path = try folder.write("what is sent", to: "a")
        let source = try #require(try soon(path))
        #expect(source.path == path && source.isInMemory && source.isUnchanged)
        let waited = try SourceFile(path)
        #expect(source.stamp == waited.stamp)
        var bytes = [UInt8](repeating: 0, count: 100)
        let count = try bytes.withUnsafeMutableBytes { try source.read(into: $0, at: 5) }
        #expect(String(decoding: bytes[..<count], as: UTF8.self) == "is sent")
    }

    @Test(.enabled(if: Here.hasDisk, "nothing is read from a disk here"))
    func aFileOutsideThePageCacheIsNotOpened() throws {
        let path = try folder.write("what is sent", to: "a")
        try forgetContent(of: path)
        #expect(try source(path) == nil)
        // A worker that waits for the disk reads the file, after which its bytes are in memory.
        _ = try SourceFile(path, readingUpTo: 4096)
        #expect(try soon(path) != nil)
    }

    @Test func largeEmptyAndSpecialFilesAreNotOpened() throws {
        let long = try folder.write("12345", to: "long")
        #expect(try source(long, readingUpTo: 4) == nil)
        #expect(try soon(long, readingUpTo: 5) != nil)
        #expect(try source(folder.write("", to: "empty")) == nil)
        #expect(try source(folder.path("missing")) == nil)
        #expect(try source(folder.folder("folder")) == nil)
        #expect(mkfifo(folder.path("pipe"), 0o600) == 0)
        #expect(try source(folder.path("pipe")) == nil)
    }

    @Test func aFileOfAnotherFolderIsNotOpened() throws {
        #expect(try source(folder.write("x", to: "sub/a")) == nil)
        #expect(try source(folder.path("") + "../" + folder.path.split(separator: "/")[1] + "/a") == nil)
        // A link leads to another mount.
        #expect(symlink("/proc/version", folder.path("link")) == 0)
        #expect(try source(folder.path("link")) == nil)
        // Unicode treats both texts as equal, and the kernel as two folders.
        let (composed, decomposed) = ("caf\u{E9}", "cafe\u{301}")
        let path = try folder.write("x", to: "\(composed)/aa")
        try folder.write("y", to: "\(decomposed)/a")
        let cached = try #require(CachedFolder(of: path))
        #expect(SourceFile(folder.path("\(decomposed)/a"), cachedIn: cached, readingUpTo: 10) == nil)
    }

    /// The folder closes its own descriptor only once: after that its number may belong to other code.
    @Test func aFailedOpenClosesNoOtherDescriptor() async throws {
        let path = try folder.write("x", to: "a")
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { for _ in 0..<5000 { #expect(CachedFolder(of: "/proc/self/status") == nil) } }
            group.addTask {
                for _ in 0..<5000 {
                    let descriptor = open(path, O_RDONLY)
                    try #require(descriptor >= 0 && close(descriptor) == 0, "somebody else has closed it")
                }
            }
            try await group.waitForAll()
        }
    }

    @Test func aNameMayBeginWithACombiningMark() throws {
        // Unicode joins a combining mark to the slash before it.
        let path = try folder.write("right", to: "\u{301}name")
        try folder.write("wrong", to: "\u{301}/name")
        let cached = try #require(CachedFolder(of: path))
        #expect(Array(cached.path.utf8) == Array(folder.path("").utf8))
    }

    @Test func aFolderOutsideADiskIsNotCached() {
        #expect(CachedFolder(of: "/proc/self/status") == nil)
        #expect(CachedFolder(of: folder.path("missing/a")) == nil)
        #expect(CachedFolder(of: "relative") == nil)
    }
}

private enum Here {
    static let isPossible: Bool = {
        guard let folder = try? TemporaryFolder("cached"), let path = try? folder.write("x", to: "a"),
            let cached = CachedFolder(of: path)
        else { return false }
        return (0..<1000).contains { _ in SourceFile(path, cachedIn: cached, readingUpTo: 1) != nil }
    }()

    /// Whether the files are on a disk, and not in memory (tmpfs).
    static let hasDisk = (try? TemporaryFolder("cached")).map { transfer_file_system($0.path) } != 0x0102_1994
}
