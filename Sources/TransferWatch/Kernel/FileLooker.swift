import CTransferLinux
import Glibc
import TransferCore
import TransferEventLoop

/// Looks at files of one folder.
struct FileLooker: Sendable {
    /// Without links; what lies beneath is inside.
    var root: String
    /// Files that have been quiet for so long are asked about whether somebody writes them; none where that can't be
    /// told, on file systems that others write to.
    var asksAfter: Duration?
    /// How far the clock of who writes the times may be from ours.
    var tolerance = Duration.zero

    /// A server's clock is taken to be right by an hour, as it may be set to another time of the year.
    static let remoteTolerance = Duration.seconds(3600)

    /// - Parameter folder: A descriptor.
    func sight(_ name: String, in folder: Int32) -> FileSnapshot {
        var look = transfer_file_look()
        guard transfer_look(folder, name, &look) == 0 else { return .nothing }
        switch mode_t(look.kind) {
        case S_IFREG: return .file(file(look, hasOtherNames: look.links > 1, folder, name, follows: false))
        case S_IFLNK: return link(name, in: folder)
        default: return .nothing
        }
    }

    /// A link counts as another name of the file that it leads to, when that is inside.
    private func link(_ name: String, in folder: Int32) -> FileSnapshot {
        let target = transfer_open_target(folder, name)
        guard target >= 0 else { return .linkLeadsOutside }
        defer { close(target) }
        let itself = "/proc/self/fd/\(target)"
        var look = transfer_file_look()
        guard let path = TextFile.link(itself), PathText.isInside(path, root),
            transfer_look_at_descriptor(target, &look) == 0
        else { return .linkLeadsOutside }
        guard mode_t(look.kind) == S_IFREG, look.links > 0, !WatchRules.isTemporary(PathText.name(path)) else {
            return .nothing
        }
        return .file(file(look, hasOtherNames: true, AT_FDCWD, itself, follows: true))
    }

    private func file(
        _ look: transfer_file_look, hasOtherNames: Bool, _ folder: Int32, _ name: String, follows: Bool
    ) -> FileLook {
        let age = Int64(WallClock.now * 1e9) - look.changed
        let quietFor = Duration.nanoseconds(age) - tolerance
        var result = FileLook(
            stamp: FileStamp(
                device: look.device, inode: look.inode, size: look.size, modified: look.modified, changed: look.changed),
            quietFor: quietFor, hasOtherNames: hasOtherNames)
        if let asksAfter, quietFor >= asksAfter {
            let answer = transfer_is_written(folder, name, look.inode, follows ? 1 : 0)
            result.isWritten = answer < 0 ? nil : answer > 0
        }
        return result
    }
}
