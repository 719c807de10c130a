import Foundation
import Glibc
import Testing
import TransferCore
import TransferEventLoop
import TransferTestSupport

@testable import TransferWatch

/// Several writers do random operations from seeds. In the end every file has been taken in its final state.
@Suite(.timeLimit(.minutes(2))) struct WatcherStormTests {
    struct Generator: RandomNumberGenerator {
        var state: UInt64

        mutating func next() -> UInt64 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return state ^ state >> 29
        }
    }

    /// The operations of a writer in a tree of its own, so that it knows the existing files.
    struct Writer {
        var random: Generator
        let root: String
        let outside: String
        var folders: [String] = [""]
        var files: Set<String> = []
        var open: [Int32] = []
        var count = 0

        mutating func act() {
            count += 1
            let folder = folders.randomElement(using: &random) ?? ""
            let new = PathText.join(folder, "n\(count)")
            let known = files.sorted().randomElement(using: &random)
            switch Int.random(in: 0..<20, using: &random) {
            case 0..<6: write(new)
            case 6..<8: if let known { write(known) }
            case 8..<10: if let known, unlink(path(known)) == 0 { files.remove(known) }
            case 10..<12:
                write(new + ".part")
                if rename(path(new + ".part"), path(new)) == 0 {
                    files.remove(new + ".part")
                    files.insert(new)
                }
            case 12..<14:
                if let known, rename(path(known), path(new)) == 0 {
                    files.remove(known)
                    files.insert(new)
                }
            case 14..<16: hold(new)
            case 16: while let descriptor = open.popLast() { close(descriptor) }
            case 17: if folders.count < 12, mkdir(path(new), 0o755) == 0 { folders.append(new) }
            case 18: moveFolder(folder, to: new)
            default: moveOutAndIn(folder, to: new)
            }
        }

        func path(_ relative: String) -> String { root + "/" + relative }

        mutating func write(_ name: String) {
            let descriptor = Glibc.open(path(name), O_WRONLY | O_CREAT | O_TRUNC, 0o644)
            guard descriptor >= 0 else { return }
            for _ in 0..<Int.random(in: 1...3, using: &random) { _ = Glibc.write(descriptor, "\(count)-data", 6) }
            close(descriptor)
            files.insert(name)
        }

        /// Writes a file now, and closes it some time later.
        mutating func hold(_ name: String) {
            let descriptor = Glibc.open(path(name), O_WRONLY | O_CREAT | O_TRUNC, 0o644)
            guard descriptor >= 0 else { return }
            _ = Glibc.write(descriptor, "held", 4)
            files.insert(name)
            open.append(descriptor)
        }

        mutating func moveFolder(_ folder: String, to new: String) {
            guard folder != "", !PathText.isInside(new, folder), rename(path(folder), path(new)) == 0 else { return }
            moved(folder, new)
        }

        mutating func moveOutAndIn(_ folder: String, to new: String) {
            guard folder != "", !PathText.isInside(new, folder) else { return }
            let away = outside + "/away\(count)"
            guard rename(path(folder), away) == 0 else { return }
            _ = FileManager.default.createFile(atPath: away + "/made-outside", contents: Data("x".utf8))
            guard rename(away, path(new)) == 0 else { return }
            files.insert(folder + "/made-outside")
            moved(folder, new)
        }

        private mutating func moved(_ folder: String, _ new: String) {
            func renamed(_ path: String) -> String {
                path == folder ? new : PathText.isInside(path, folder) ? new + path.dropFirst(folder.count) : path
            }
            folders = folders.map(renamed)
            files = Set(files.map(renamed))
        }
    }

    /// Returns the versions of all existing files that should be taken.
    static func versions(in stage: WatchStage) throws -> Set<FileVersion> {
        let place = try Place.root(stage.watcher.root)
        let paths = try stage.folder.files(below: "in").filter { !$0.hasSuffix(".part") }
        return Set(
            try paths.compactMap { path in
                let folder = try place.folder(PathText.folder(path))
                let sight = FileLooker(root: stage.watcher.root).sight(
                    String(PathText.name(path)), in: folder.descriptor)
                return sight.look?.version(path)
            })
    }

    @Test(arguments: [(1, 256, 8192), (2, 8, 8), (3, 32, 16), (4, 4, 4096)] as [(UInt64, Int, Int)])
    func everyFileIsTakenAsItIsInTheEnd(seed: UInt64, capacity: Int, unsettled: Int) async throws {
        let stage = try WatchStage {
            $0.settle = .milliseconds(10)
            $0.capacity = capacity
            $0.unsettledCapacity = unsettled
        }
        for writer in 0..<4 { try stage.folder.folder("in/w\(writer)") }
        try stage.folder.folder("outside")
        stage.watcher.start()
        let folder = stage.folder
        await withTaskGroup { group in
            for number in 0..<4 {
                group.addTask {
                    var writer = Writer(
                        random: Generator(state: seed &* 1000 &+ UInt64(number)), root: folder.path("in/w\(number)"),
                        outside: folder.path("outside"))
                    writer.count = number * 1_000_000
                    for step in 0..<600 {
                        writer.act()
                        // Other tasks run in between.
                        if step % 20 == 0 { await Task.yield() }
                    }
                    for descriptor in writer.open { close(descriptor) }
                }
            }
        }
        let wanted = try Self.versions(in: stage)
        #expect(wanted.count > 100)
        let state = await stage.uploads.wait { $0.history.isSuperset(of: wanted) }
        #expect(state.taken.allSatisfy { !WatchRules.isTemporary($0.name) })
        #expect(Set(state.taken).count == state.taken.count)
        // An open file is not taken: a closed one has four bytes, and an open one may be empty.
        #expect(state.taken.allSatisfy { $0.size > 0 })
        let held = await stage.watcher.withMachine { $0.tree.count }
        #expect(held.map { $0 <= 4 * 12 + 1 } == true)
        await stage.watcher.stop()
    }
}
