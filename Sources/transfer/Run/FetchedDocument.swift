import FoundationEssentials
import Glibc
import TransferCore

/// A small document that is named by a URL: a Metalink, or a list of checksums.
///
/// Another process of this program fetches it, in a separate queue with the usual retries, before the described work
/// begins. The call blocks.
struct FetchedDocument {
    /// The options of requests for the process, as they were typed: they name secrets and contain none.
    var options: [String] = []
    /// Whether lists of checksums are left unread, because the command promises to ask no server.
    var asksNoServer = false

    /// The longest document in bytes.
    private static let limit = 64 << 20

    static func isURL(_ name: String) -> Bool { name.contains("://") }

    /// Returns whether a name is that of a Metalink.
    static func isMetalink(_ name: String) -> Bool {
        let path = (isURL(name) ? String(name.prefix { $0 != "?" && $0 != "#" }) : name).lowercased()
        return path.hasSuffix(".meta4") || path.hasSuffix(".metalink")
    }

    /// Fetches a document.
    ///
    /// - Throws: `Failure`; the other process has reported the fault of the transfer.
    func read(_ url: String) throws(Failure) -> [UInt8] {
        let state = try Self.makeFolder()
        defer { try? FileManager.default.removeItem(atPath: state) }
        let words =
            ["transfer", "get", "--quiet", "--progress", "none", "--no-metalink", "--output", "-", "--state", state]
            + options + ["--", url]
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw Self.failure(url, errno) }
        let pid: pid_t
        do throws(Failure) {
            pid = try Self.start(words, output: ends[1], url)
        } catch {
            for end in ends { close(end) }
            throw error
        }
        close(ends[1])
        let bytes = Self.bytes(from: ends[0])
        close(ends[0])
        if bytes == nil { kill(pid, SIGTERM) }
        var status: Int32 = 0
        while waitpid(pid, &status, 0) < 0, errno == EINTR {}
        guard let bytes else {
            throw Failure(
                .unreadableJobFile, "\(Redaction.url(url)) is longer than \(Self.limit >> 20) MiB: no list is as long")
        }
        guard status == 0 else { throw Failure(.unreadableJobFile, "cannot fetch \(Redaction.url(url))") }
        return bytes
    }

    private static func makeFolder() throws(Failure) -> String {
        let parent = Composition.environment["TMPDIR"] ?? "/tmp"
        var template = Array("\(parent)/transfer-list-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else {
            throw Failure(
                .stateUnusable, "cannot make a folder in \(parent): \(String(cString: strerror(errno)).lowercasedFirst)"
            )
        }
        return String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// Reads all bytes.
    ///
    /// - Returns: `nil` where they are too many.
    private static func bytes(from descriptor: Int32) -> [UInt8]? {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            let count = Glibc.read(descriptor, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return bytes }
            bytes += buffer[..<count]
            guard bytes.count <= limit else { return nil }
        }
    }

    private static func start(_ words: [String], output: Int32, _ url: String) throws(Failure) -> pid_t {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        // Only this process may ask for a password.
        posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO)
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        // Signals end the process, regardless of the signal mask of this one.
        var signals = sigset_t()
        sigemptyset(&signals)
        posix_spawnattr_setsigmask(&attributes, &signals)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
        var pointers = words.map { strdup($0) } + [nil]
        defer { for pointer in pointers { free(pointer) } }
        var pid = pid_t()
        let code = posix_spawn(&pid, "/proc/self/exe", &actions, &attributes, &pointers, environ)
        guard code == 0 else { throw failure(url, code) }
        return pid
    }

    private static func failure(_ url: String, _ code: Int32) -> Failure {
        Failure(
            .unreadableJobFile, "cannot fetch \(Redaction.url(url)): \(String(cString: strerror(code)).lowercasedFirst)"
        )
    }
}
