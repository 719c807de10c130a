import Glibc
public import TransferCore

extension TransferError {
    /// Returns the error of a failed system call on a file, as one sentence.
    public static func file(_ action: String, _ path: String, _ number: Int32) -> TransferError {
        let reason = String(cString: strerror(number))
        let message = "cannot \(action) \(path): \(reason.lowercasedFirst)"
        switch number {
        case ENOSPC, EDQUOT: return TransferError(.diskFull, message, cause: .os(errno: number), isTransient: true)
        case ENOENT: return TransferError(.fileMissing, message, cause: .os(errno: number))
        case EEXIST: return TransferError(.fileExists, message, cause: .os(errno: number))
        case EIO, EMFILE, ENFILE, ENOMEM, EAGAIN:
            return TransferError(.fileAccess, message, cause: .os(errno: number), isTransient: true)
        default: return TransferError(.fileAccess, message, cause: .os(errno: number))
        }
    }

    /// Returns the error of a file that does not get its name, with the advice for a name that can never be replaced.
    static func renaming(_ path: String, to destination: String, _ number: Int32) -> TransferError {
        var error = file("rename", "\(path) to \(destination)", number)
        // A single file that is mounted, as into a container (rename(2)).
        if number == EBUSY {
            error.message += "; something is mounted there: mount the folder in place of the file, or name another file"
        }
        return error
    }
}
