/// The version of this library and its command.
public enum TransferVersion {
    /// The version, in the form `major.minor.patch`.
    public static let current = "0.2.0"
}
