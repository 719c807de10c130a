import CTransferLinux
import Glibc
import TransferCore

/// The search for the watched folder, or for the name to wait for while it is missing; on a worker.
enum RootFinder {
    /// The watched folder exists.
    struct Found: Sendable {
        var reader: FolderReader
        /// The descriptor of the event queue; -1 if the kernel gave none.
        var inotify: Int32
        var refusal: WatchRefusal?
        /// The watches of the folders and links on the path to it. They report only that one of them is no longer at
        /// its place.
        var places: Set<Int32>
    }

    /// The watched folder does not exist.
    struct Missing: Sendable {
        var error: TransferError
        /// The descriptor of the event queue; -1 if the kernel gave none.
        var inotify: Int32
        /// The name that has to appear in the nearest existing folder.
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
        // The folder may have appeared before there was a watch.
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

    /// Watches the folders and links of the path, in addition to the events that a folder may already be watched for.
    static func watchPlaces(of root: String, _ inotify: Int32, _ kernel: WatchKernel) -> Set<Int32> {
        var places: Set<Int32> = []
        for step in PathTrail.steps(to: root) {
            let mask = step.isLink ? InotifyEvent.linkMask : InotifyEvent.placeMask
            let watch = kernel.add(inotify, step.path, mask | UInt32(truncatingIfNeeded: TRANSFER_IN_MASK_ADD))
            if watch >= 0 { places.insert(watch) }
        }
        return places
    }

    /// Watches the nearest existing folder above the path.
    ///
    /// - Returns: The name that is missing in it.
    private static func wait(_ root: String, _ inotify: Int32, _ kernel: WatchKernel) -> String? {
        let names = PathText.components(root)
        var awaited: String?
        // The search is repeated if a nearer folder has appeared meanwhile. It is limited, because that folder may be
        // impossible to watch.
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
