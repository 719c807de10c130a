import Testing
import TransferCore

@testable import TransferWatch

/// A test bench whose file system is a table and whose consumer takes every file.
struct MachineBench {
    var machine: WatchMachine
    var now = MonotonicTime(nanoseconds: 0)
    /// Folders with their inodes; the empty path is the watched folder.
    var folders: [String: UInt64] = ["": 1]
    /// Files with their sizes.
    var files: [String: Int64] = [:]
    /// Watches, by inode as in the kernel.
    var watches: [UInt64: Int32] = [:]
    var watchLimit = 1000
    private var lastWatch: Int32 = 100
    var remote: Set<String> = []
    /// The age of the last change when a file is examined.
    var quietFor = Duration.seconds(60)
    var changed: Int64 = 0
    var taken: [String] = []
    var notices: [WatchEvent] = []
    var endedWatches: [Int32] = []
    var consumerRoom = Int.max
    /// The remaining entries of the folder under reading.
    private var left: [String] = []
    private var begun = 0

    init(_ options: WatchMachine.Options = Self.options()) { machine = WatchMachine(options: options) }

    static func options(_ change: (inout WatchMachine.Options) -> Void = { _ in }) -> WatchMachine.Options {
        var options = WatchMachine.Options()
        options.rules.isRecursive = true
        change(&options)
        return options
    }

    func watch(_ path: String) -> Int32 { watches[folders[path] ?? 0] ?? 0 }

    mutating func event(_ kind: InotifyEvent.Kind, _ path: String, cookie: UInt32 = 0) {
        let event = InotifyEvent(
            watch: watch(String(PathText.folder(path))), kind: kind, cookie: cookie,
            name: .text(String(PathText.name(path))))
        machine.take(event, at: now)
    }

    func look(_ path: String) -> FileLook? {
        files[path].map {
            FileLook(
                stamp: FileStamp(
                    device: 1, inode: UInt64(path.utf8.count), size: $0, modified: $0, changed: changed),
                quietFor: quietFor)
        }
    }

    /// Runs until no work is left for now.
    mutating func run() {
        for _ in 0..<100_000 {
            machine.turn(at: now)
            let step = machine.nextStep(at: now)
            if let step { perform(step) }
            let batch = machine.nextOffer(at: now)
            if let batch {
                let handled = min(batch.count, consumerRoom)
                consumerRoom -= handled
                taken += batch[..<handled].map(\.path)
                machine.answered(handled: handled, at: now)
            }
            let ended = machine.takeEndedWatches()
            endedWatches += ended
            for (inode, watch) in watches where ended.contains(watch) { watches[inode] = nil }
            notices += machine.takeNotices()
            if step == nil, batch == nil { return }
        }
        Issue.record("it goes on for ever")
    }

    mutating func run(after pause: Duration) {
        now = now + pause
        run()
    }

    private mutating func perform(_ step: WatchMachine.Step) {
        switch step {
        case .begin(let id, let path, let wantsWatch):
            begun += 1
            guard let inode = folders[path] else {
                return machine.failed(id, TransferError(.fileMissing, path))
            }
            left = (Array(folders.keys) + Array(files.keys)).sorted().filter { $0 != "" && PathText.folder($0) == path }
            let isRemote = remote.contains(path)
            var watch = WatchMachine.Beginning.Watch.none
            if wantsWatch, !isRemote {
                if let known = watches[inode] {
                    watch = .set(known)
                } else if watches.count < watchLimit {
                    // The numbers of watches are not reused.
                    lastWatch += 1
                    watches[inode] = lastWatch
                    watch = .set(lastWatch)
                } else {
                    watch = .refused(
                        WatchRefusal(number: 28, .init(setting: WatchRefusal.watches[0], value: watchLimit)))
                }
            }
            machine.began(
                id,
                .init(
                    identity: FolderIdentity(device: 1, inode: inode), remoteFileSystem: isRemote ? "NFS" : nil,
                    watch: watch))
        case .read(let id, let limit):
            var entries = WatchMachine.Entries()
            while entries.files.count < limit, !left.isEmpty {
                let path = left.removeFirst()
                let name = String(PathText.name(path))
                if folders[path] != nil {
                    entries.folders.append(name)
                } else if machine.options.rules.accepts(file: path), let look = look(path) {
                    entries.files.append(.init(name: name, look: look))
                }
            }
            if left.isEmpty { entries.end = .end }
            machine.read(id, entries, at: now)
        case .look(let paths):
            machine.looked(paths.map { path in (path, look(path).map { .file($0) } ?? .nothing) }, at: now)
        case .identify(let id, let path):
            machine.identified(id, folders[path].map { FolderIdentity(device: 1, inode: $0) })
        }
    }

    var beginnings: Int { begun }
}
