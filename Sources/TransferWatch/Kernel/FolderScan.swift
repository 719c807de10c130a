import CTransferLinux
import Glibc
import TransferCore
import TransferEventLoop

/// A folder that is being read: the reading position, not the names.
///
/// `@unchecked Sendable`: only one step at a time uses it, and a step ends before the next begins.
final class FolderScan: @unchecked Sendable {
    let identity: FolderIdentity
    let remoteFileSystem: String?
    private let entries: OpaquePointer
    private let realRoot: String

    /// The longest time of a step, unless one call to the file system takes longer.
    private static let patience = Duration.milliseconds(50)

    /// Opens a folder for reading.
    ///
    /// - Parameter root: The watched folder.
    init(_ path: String, beneath root: borrowing Place, kernel: WatchKernel) throws(TransferError) {
        let place = try root.folder(path)
        guard let identity = place.identity else { throw SystemText.fault(path, errno) }
        guard let entries = transfer_open_entries(place.descriptor) else { throw SystemText.fault(path, errno) }
        self.entries = entries
        realRoot = root.realPath
        self.identity = identity
        remoteFileSystem = FileSystemKind.remoteName(kernel.fileSystem(place.descriptor))
    }

    deinit { closedir(entries) }

    /// The descriptor of the folder, valid while this object exists.
    var descriptor: Int32 { dirfd(entries) }

    /// Continues the reading.
    ///
    /// - Parameters:
    ///   - path: The path of the folder, for the rules.
    ///   - limit: The most files to return.
    ///   - settle: The quiet time after which the kernel is asked whether a file is open for writing.
    func read(path: String, limit: Int, rules: WatchRules, settle: Duration) -> WatchMachine.Entries {
        var found = WatchMachine.Entries()
        let isRemote = remoteFileSystem != nil
        let looker = FileLooker(
            root: realRoot, asksAfter: isRemote ? nil : settle,
            tolerance: isRemote ? FileLooker.remoteTolerance : .zero)
        let begin = MonotonicTime.now
        var met = 0
        while found.files.count < limit {
            met += 1
            if met % 64 == 0, MonotonicTime.now - begin > Self.patience { return found }
            var kind: Int32 = 0
            var number: Int32 = 0
            guard let bytes = transfer_next_entry(entries, &kind, &number) else {
                found.end = number == 0 ? .end : .failed(SystemText.fault(path, number))
                return found
            }
            note(bytes, Int(kind), path, rules, looker, &found)
        }
        return found
    }

    private func note(
        _ bytes: UnsafePointer<CChar>, _ kind: Int, _ path: String, _ rules: WatchRules, _ looker: FileLooker,
        _ found: inout WatchMachine.Entries
    ) {
        guard let name = String(validatingCString: bytes) else {
            found.brokenNames.append(String(cString: bytes))
            return
        }
        if name == "." || name == ".." { return }
        var kind = kind
        if kind == DT_UNKNOWN {
            // Some file systems do not report the kind.
            var look = transfer_file_look()
            guard transfer_look(descriptor, name, &look) == 0 else { return }
            kind = mode_t(look.kind) == S_IFDIR ? Int(DT_DIR) : Int(DT_REG)
        }
        if kind == DT_DIR { return found.folders.append(name) }
        guard kind == DT_REG || kind == DT_LNK, rules.accepts(file: PathText.join(path, name)) else { return }
        switch looker.sight(name, in: descriptor) {
        case .file(let look): found.files.append(.init(name: name, look: look))
        case .linkLeadsOutside: found.links.append(name)
        case .nothing: break
        }
    }
}
