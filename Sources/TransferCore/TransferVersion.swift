/// The version of this library and its command.
public enum TransferVersion {
    public static let current = "0.2.0"
}
