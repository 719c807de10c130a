internal import Dispatch
internal import Foundation
internal import Glibc

/// Concurrent writers of files with the habits of users: at once, slowly, by a temporary name, repeatedly, and for
/// short-lived files.
///
/// `@unchecked Sendable`: `finals` is filled before any other work; the writers have threads and files of their own.
public final class WriterCrew: @unchecked Sendable {
    private enum Habit: Int, CaseIterable { case plain, slow, renamed, rewritten, deleted, temporary }

    private let folder: String
    private let writers: Int
    private let files: Int
    /// The final content of the server, by path.
    public let finals: [String: String]
    /// The paths of files that are written once and get their names only when complete. No other version of them can be
    /// seen.
    public let writtenOnce: Set<String>

    /// - Parameters:
    ///   - folder: The absolute path of an existing folder.
    ///   - writers: The number of concurrent writers.
    public init(folder: String, writers: Int, files: Int) {
        self.folder = folder
        self.writers = writers
        self.files = files
        var finals: [String: String] = [:]
        var writtenOnce: Set<String> = []
        for number in 0..<files {
            if Self.habit(number) == .renamed { writtenOnce.insert(Self.path(number)) }
            switch Self.habit(number) {
            case .plain, .slow, .renamed: finals[Self.path(number)] = Self.text(number, 1)
            case .rewritten: finals[Self.path(number)] = Self.text(number, 2)
            case .deleted, .temporary: break
            }
        }
        self.finals = finals
        self.writtenOnce = writtenOnce
    }

    private static func habit(_ number: Int) -> Habit { Habit.allCases[number % Habit.allCases.count] }

    private static func path(_ number: Int) -> String {
        let name = habit(number) == .deleted ? "deleted-\(number)" : "file-\(number)"
        return "d\(number % 7)/\(name)"
    }

    private static func text(_ number: Int, _ version: Int) -> String {
        "version \(version) of \(number) " + String(repeating: "\(number % 10)", count: number % 5000)
    }

    /// Does a part of the work with all writers at once, and calls `middle` in the middle of it.
    public func work(part: Int, of parts: Int, middle: () throws -> Void) throws {
        for number in 0..<7 { mkdir(folder + "/d\(number)", 0o755) }
        let range = files * part / parts..<files * (part + 1) / parts
        let half = (range.lowerBound + range.upperBound) / 2
        write(range.lowerBound..<half)
        try middle()
        write(half..<range.upperBound)
    }

    private func write(_ range: Range<Int>) {
        DispatchQueue.concurrentPerform(iterations: writers) { writer in
            let own = range.filter { $0 % writers == writer }
            // The slow files stay open while all other files are written.
            let open = own.filter { Self.habit($0) == .slow }.map { number -> (number: Int, descriptor: Int32) in
                let descriptor = Self.create(path(number))
                Self.write(Self.text(number, 1).prefix(9), to: descriptor)
                return (number, descriptor)
            }
            for number in own { writeOne(number) }
            for (number, descriptor) in open {
                Self.write(Self.text(number, 1).dropFirst(9), to: descriptor)
                close(descriptor)
            }
        }
    }

    private func writeOne(_ number: Int) {
        let path = path(number)
        switch Self.habit(number) {
        case .slow: break
        case .plain: Self.write(Self.text(number, 1), at: path)
        case .renamed:
            Self.write(Self.text(number, 1), at: path + ".part")
            rename(path + ".part", path)
        case .rewritten:
            Self.write(Self.text(number, 1), at: path)
            // Another file is written in between, so that some of the first versions have settled.
            if number % 4 == 0 { Self.write(Self.text(number, 2), at: path) }
        case .deleted:
            Self.write("never", at: path)
            unlink(path)
        case .temporary: Self.write("never", at: path + ".part")
        }
    }

    /// Writes the last versions of rewritten files, and removes all temporary files.
    public func finish() throws {
        for number in 0..<files {
            switch Self.habit(number) {
            case .rewritten where number % 4 != 0: Self.write(Self.text(number, 2), at: path(number))
            case .temporary: unlink(path(number) + ".part")
            default: break
            }
        }
    }

    private func path(_ number: Int) -> String { folder + "/" + Self.path(number) }

    private static func create(_ path: String) -> Int32 { open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644) }

    private static func write(_ text: some StringProtocol, at path: String) {
        let descriptor = create(path)
        write(text, to: descriptor)
        close(descriptor)
    }

    private static func write(_ text: some StringProtocol, to descriptor: Int32) {
        let bytes = Array(text.utf8)
        _ = bytes.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
    }

    /// Returns whether no file is left below a folder.
    public static func isEmpty(_ folder: String) -> Bool {
        let paths = (try? FileManager.default.subpathsOfDirectory(atPath: folder)) ?? []
        return paths.allSatisfy { path in
            var status = stat()
            return lstat(folder + "/" + path, &status) != 0 || status.st_mode & S_IFMT == S_IFDIR
        }
    }
}
