import Foundation
import Glibc
import TransferCore
import TransferEngine

/// The last step of a download: the complete file is moved to its final name.
struct FilePlacement {
    let part: PartFile
    let target: URL
    let options: DownloadRequest.Options
    var files = FileManager.default

    /// Moves the file. A previous file is replaced in one step if possible, so that a failed move does not lose it.
    func perform() throws {
        var isFolder: ObjCBool = false
        let replaces = options.contains(.removePreviousFile)
        if replaces, files.fileExists(atPath: target.path, isDirectory: &isFolder), isFolder.boolValue {
            try files.removeItem(at: target)
        }
        if options.contains(.createIntermediateDirectories) {
            try files.createDirectory(at: target.deletingLastPathComponent(), withIntermediateDirectories: true)
        }
        part.openAccess(replacing: replaces ? target.path : nil)
        // The program's own file manager has to see every step, and may decide about it.
        guard files === FileManager.default else { return try moveByManager(replacing: replaces) }
        do throws(TransferError) {
            try part.rename(to: target.path, replacing: replaces)
        } catch {
            guard error.errno == EXDEV else { throw error }
            try moveAcross(replacing: replaces)
        }
    }

    private func moveByManager(replacing: Bool) throws {
        if replacing, files.fileExists(atPath: target.path) { try files.removeItem(at: target) }
        try files.moveItem(at: URL(fileURLWithPath: part.path), to: target)
    }

    /// Moves the file to another file system. A copy under another name comes first, so that the target is never
    /// incomplete.
    private func moveAcross(replacing: Bool) throws {
        let beside = target.deletingLastPathComponent().appendingPathComponent(".\(UUID().uuidString).part")
        do {
            try FileManager.default.copyItem(atPath: part.path, toPath: beside.path)
            let copy = try PartFile.open(beside.path)
            try copy.rename(to: target.path, replacing: replacing)
        } catch {
            try? FileManager.default.removeItem(at: beside)
            throw error
        }
        part.remove()
    }
}
