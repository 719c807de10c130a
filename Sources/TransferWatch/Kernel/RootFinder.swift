import CTransferLinux
import Glibc
import TransferCore

/// Finds the watched folder, or what to wait for where it's missing; on a worker.
enum RootFinder {
    /// The watched folder is there.
    struct Found: Sendable {
        var reader: FolderReader
        /// The queue of events; -1 when the kernel gave none.
        var inotify: Int32
        var refusal: WatchRefusal?
        /// The watches of the folders and links on the way to it: told is only that one of them isn't at its place any
        /// more.
        var places: Set<Int32>
    }

    /// The folder isn't there.
    struct Missing: Sendable {
        var error: TransferError
        /// The queue of events; -1 when the kernel gave none.
        var inotify: Int32
        /// The name that has to appear in the nearest folder that there is.
        var awaited: String?
    }

    enum Outcome: Sendable {
        case found(Found)
        case missing(Missing)
    }

    static func find(_ root: String, kernel: WatchKernel, usesInotify: Bool) -> Outcome {
        let error: TransferError
        do throws(TransferError) {
            return .found(try open(root, kernel: kernel, usesInotify: usesInotify))
        } catch let fault {
            error = fault
        }
        guard usesInotify else { return .missing(Missing(error: error, inotify: -1)) }
        let inotify = kernel.create()
        guard inotify >= 0 else { return .missing(Missing(error: error, inotify: -1)) }
        let awaited = wait(root, inotify, kernel)
        // The folder may have come before there was a watch.
        if let found = try? open(root, kernel: kernel, usesInotify: true) {
            close(inotify)
            return .found(found)
        }
        return .missing(Missing(error: error, inotify: inotify, awaited: awaited))
    }

    private static func open(_ root: String, kernel: WatchKernel, usesInotify: Bool) throws(TransferError) -> Found {
        let place = try Place.root(root)
        guard let identity = place.identity else { throw SystemText.fault(root, ENOENT) }
        guard let entries = transfer_open_entries(place.descriptor) else { throw SystemText.fault(root, errno) }
        closedir(entries)
        let reader = FolderReader(root: root, identity: identity, kernel: kernel)
        guard usesInotify else { return Found(reader: reader, inotify: -1, places: []) }
        let inotify = kernel.create()
        guard inotify >= 0 else {
            return Found(reader: reader, inotify: -1, refusal: kernel.refusal(-inotify), places: [])
        }
        let places = watchPlaces(of: root, inotify, kernel)
        return Found(reader: reader, inotify: inotify, places: places)
    }

    /// Watches what the path leads through, for that besides what a folder may be watched for already.
    static func watchPlaces(of root: String, _ inotify: Int32, _ kernel: WatchKernel) -> Set<Int32> {
        var places: Set<Int32> = []
        for step in PathTrail.steps(to: root) {
            let mask = step.isLink ? InotifyEvent.linkMask : InotifyEvent.placeMask
            let watch = kernel.add(inotify, step.path, mask | UInt32(truncatingIfNeeded: TRANSFER_IN_MASK_ADD))
            if watch >= 0 { places.insert(watch) }
        }
        return places
    }

    /// Watches the nearest folder above the path that there is.
    ///
    /// - Returns: The name that is missing in it.
    private static func wait(_ root: String, _ inotify: Int32, _ kernel: WatchKernel) -> String? {
        let names = PathText.components(root)
        var awaited: String?
        // Again when a nearer one has come meanwhile; a few times, as it may be one that can't be watched.
        for _ in 0..<4 {
            let depth = stride(from: names.count - 1, through: 0, by: -1).first {
                kernel.add(inotify, "/" + names[..<$0].joined(separator: "/"), InotifyEvent.arrivalMask) >= 0
            }
            guard let depth else { break }
            awaited = names[depth]
            var look = transfer_file_look()
            let nearer = "/" + names[...depth].joined(separator: "/")
            guard depth < names.count - 1, transfer_look(AT_FDCWD, nearer, &look) == 0, mode_t(look.kind) == S_IFDIR
            else { break }
        }
        return awaited
    }
}
