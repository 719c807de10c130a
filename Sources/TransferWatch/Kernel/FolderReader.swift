import CTransferLinux
import Glibc
import TransferCore

/// The file system calls of steps, on a worker. The watched folder is opened by its path each time. No descriptor is
/// thus held while idle, and another folder at that path is noticed.
struct FolderReader: Sendable {
    let root: String
    let identity: FolderIdentity
    let kernel: WatchKernel

    /// The watched folder itself is no longer at its path.
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
            // Without the watched folder itself, there is nothing to watch.
            if path.isEmpty { throw RootGone(error: error) }
            return .failure(error)
        }
    }

    func identity(of path: String) throws(RootGone) -> FolderIdentity? {
        let place = try place()
        guard let folder = try? place.folder(path) else { return nil }
        return folder.identity
    }

    /// Inspects files, those of one folder in sequence.
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
    /// Returns whether the file is still this version. Callers should check before they change the file, and after they
    /// have read it. Reads the file system on the caller's thread.
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
