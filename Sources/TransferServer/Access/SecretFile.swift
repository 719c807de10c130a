public import TransferQueue

/// The secret of a service for which none was configured. It is created at the first start, in a file that only the
/// service's user can read.
public enum SecretFile {
    /// Returns the secret, and creates it if necessary.
    ///
    /// - Parameter folder: The queue's state folder.
    /// - Returns: The secret as text, and whether it was created by this call.
    /// - Throws: `TransferError` for a file that cannot be used.
    public static func secret(in folder: String) throws(TransferError) -> (text: String, isNew: Bool) {
        try PrivateFile.text(folder + "/serve.secret", PrivateFile.randomDigits)
    }
}
