/// The facts about the library itself.
public enum AFInfo {
    /// The version of Alamofire whose API the library has; TransferKit's own version is `TransferVersion.current`.
    public static let version = "5.12.0"
}
