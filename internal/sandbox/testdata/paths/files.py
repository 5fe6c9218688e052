import glob, json, os, pathlib, shutil, tempfile
with tempfile.TemporaryDirectory() as d:
    p = pathlib.Path(d) / "a.json"
    p.write_text(json.dumps([1, 2])); assert json.loads(p.read_text()) == [1, 2]
    shutil.copy2(p, p.with_suffix(".txt")); shutil.copytree(d, d + "/copy"); shutil.move(d + "/copy", d + "/moved")
    assert len(list(pathlib.Path(d).rglob("*"))) >= 2 and glob.glob(d + "/*.json")
    os.stat(p); os.listdir(d); os.path.realpath(p); os.access(p, os.R_OK); os.utime(p); os.truncate(p, 1); os.chmod(p, 0o600)
    with tempfile.NamedTemporaryFile(dir=d) as f, open(f.name, "ab") as g:
        f.write(b"x" * 9999); f.flush(); os.fsync(f.fileno()); g.seek(0); f.seek(3); f.read(); f.truncate(3)
with tempfile.SpooledTemporaryFile(max_size=4) as f: f.write(b"12345678")
import mmap, fcntl
with tempfile.TemporaryFile() as f:
    f.write(b"0" * 4096); f.flush(); mmap.mmap(f.fileno(), 4096).close(); fcntl.lockf(f, fcntl.LOCK_UN)
