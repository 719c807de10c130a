import CTransferLinux
import Glibc
import TransferCore

/// Questions of steps to the file system, on a worker. The watched folder is opened by its path each time, so that
/// nothing is held open while nothing happens, and another one at that path is noticed.
struct FolderReader: Sendable {
    let root: String
    let identity: FolderIdentity
    let kernel: WatchKernel

    /// The watched folder itself isn't at its path any more.
    struct RootGone: Error {
        var error: TransferError
    }

    private func place() throws(RootGone) -> Place {
        do throws(TransferError) {
            let place = try Place.root(root)
            if place.identity == identity { return place }
        } catch {
            throw RootGone(error: error)
        }
        throw RootGone(error: TransferError(.fileMissing, "\(root): another folder is in its place", isTransient: true))
    }

    func check() throws(RootGone) { _ = try place() }

    func begin(_ path: String) throws(RootGone) -> Result<FolderScan, TransferError> {
        let place = try place()
        do throws(TransferError) {
            return .success(try FolderScan(path, beneath: place, kernel: kernel))
        } catch {
            // Without the watched folder itself there is nothing to watch.
            if path.isEmpty { throw RootGone(error: error) }
            return .failure(error)
        }
    }

    func identity(of path: String) throws(RootGone) -> FolderIdentity? {
        let place = try place()
        guard let folder = try? place.folder(path) else { return nil }
        return folder.identity
    }

    /// Looks at files, those of one folder one after the other.
    func looks(_ paths: [String]) throws(RootGone) -> [(path: String, sight: FileSnapshot)] {
        let place = try place()
        let realRoot = place.realPath
        var sights: [(path: String, sight: FileSnapshot)] = []
        let byFolder = Dictionary(grouping: paths, by: { PathKey(String(PathText.folder($0))) })
        for (folder, paths) in byFolder {
            guard let folder = try? place.folder(folder.text) else {
                sights += paths.map { ($0, .nothing) }
                continue
            }
            let isRemote = FileSystemKind.remoteName(kernel.fileSystem(folder.descriptor)) != nil
            let looker = FileLooker(
                root: realRoot, asksAfter: isRemote ? nil : .seconds(-1_000_000_000),
                tolerance: isRemote ? FileLooker.remoteTolerance : .zero)
            sights += paths.map { ($0, looker.sight(String(PathText.name($0)), in: folder.descriptor)) }
        }
        return sights
    }
}

extension FileVersion {
    /// Whether the file is still this version: to be asked before something is done to it, and when it has been read.
    /// Looks at the file system, on the caller's thread.
    ///
    /// - Parameter root: The watched folder.
    public func isCurrent(in root: String) -> Bool {
        guard let place = try? Place.root(root),
            let folder = try? place.folder(PathText.folder(path))
        else { return false }
        let sight = FileLooker(root: place.realPath).sight(String(name), in: folder.descriptor)
        return sight.look?.version(path) == self
    }
}
