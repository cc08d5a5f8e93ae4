"""What no allow rule silences, and what only looks like it."""

import os
from pathlib import Path

import pytest

from commanding import command
from sayso.permission.shell.safety import safety
from sayso.permission.unit import CommandUnit, Word


class Home:
    """A home directory and a working directory in it, with the names that matter."""

    def __init__(self, root: Path) -> None:
        self.home, self.work = str(root / "home"), str(root / "home" / "work")
        os.makedirs(self.work + "/.git/hooks")
        os.makedirs(self.work + "/src")
        os.symlink(self.home + "/.bashrc", self.work + "/link")

    def why(self, text: str, cwd: str | None = "", wrapped: tuple[str, ...] = ()) -> str | None:
        """The reason for a command as the shell's reader would give it: `~` and $HOME known."""
        text = text.replace("$HOME", self.home).replace("~/", self.home + "/").replace(" ~", " " + self.home)
        unit = command(text, cwd=self.work if cwd == "" else cwd, wrapped=wrapped)
        return safety(unit, home=self.home, workspace=[self.work])


@pytest.fixture
def at(tmp_path: Path) -> Home:
    return Home(tmp_path.resolve())


DANGEROUS = """
rm -rf /
rm -rf //
rm -rf /*
rm -rf "/"
rm -fr --no-preserve-root /
rm --recursive --force /
rm -r --force /usr/../etc
rm -rf ~
rm -rf ~/
rm -rf ~/*
rm -rf "$HOME"
rm -rf ~/..
rm -rf /etc
rm -rf /home
rm -rf /usr/local
rm -rf .
rm -rf *
rm -rf ./*
rm -rf ..
rm -rf ../work
rm -rf "$DIR"/
rm -rf $DIR/*
rm -rf ${UNSET}/*
rm -rf "${A}${B}/"
rm -rf $(pwd)/*
rm -rf $X/etc
rm -rf /$X
rm -rf "/home/$USER"
rm -rf ~/$X
rm -rf .git
rm .env
rm -f ~/.bashrc
/bin/rm -rf /
busybox rm -rf /
sudo rm x
sudo -u root rm x
doas rmdir x
sudo dd if=a of=b
find ~ -delete
find / -name x -delete
find . -delete
find . -type f -exec rm {} +
find -delete
mv / /x
mv ~ /x
mv . /x
mv evil .git/hooks/pre-commit
mv evil .git/hooks/
mv -t .git/hooks evil
mv --target-directory=.git/hooks evil
cp evil ~/.bashrc
cp .bashrc ~
cp -t ~ .bashrc
cp evil link
cp -r evil ~/.ssh
ln -s evil ~/.profile
install -m 755 evil .git/hooks/pre-push
rsync evil ~/.ssh/authorized_keys
rsync -a --delete empty/ ~/
tee ~/.bashrc
tee -a .git/hooks/pre-commit
touch .env
mkdir -p ~/.ssh
truncate -s0 .env
truncate -s 0 /dev/sda
dd of=.env if=a
dd if=/dev/zero of=/dev/sda bs=1M
cp x /dev/sda
tee /dev/nvme0n1
shred /dev/sda
mkfs.ext4 /dev/sda1
mkfs -t ext4 /dev/sda1
mkswap /dev/sda2
wipefs -a /dev/sda
fdisk /dev/sda
parted /dev/sda mklabel gpt
chmod -R 777 /
chmod -R 777 ~
chmod 777 -R .
chown -R x:x /usr
chmod +x .git/hooks/pre-commit
sed -i 's/a/b/' ~/.bashrc
sed -i.bak -e 's/a/b/' .git/config
sed -n --in-place 's/a/b/' ~/.profile
perl -pi -e 's/a/b/' ~/.zshrc
curl -o ~/.bashrc http://x
curl -sSo ~/.bashrc http://x
wget -O ~/.profile http://x
tar -xf a.tar -C ~/.ssh
crontab x
crontab -r
git config core.pager ./x
git config --global core.hooksPath .
git config set core.fsmonitor ./x
git config alias.x '!./x'
git -C src config --local diff.external ./x
git config filter.x.clean ./x
""".strip().splitlines()

ORDINARY = """
rm build/out.txt
rm -rf build
rm -rf node_modules dist
rm -rf build/*
rm -rf "$DIR"
rm -rf "$DIR/build"
rm -rf /tmp/x
rm -rf /tmp/x/*
rm *.pyc
rmdir build
find . -name '*.pyc' -delete
find build -delete
find . -name x -exec cat {} +
mv a b
mv src/a.py build/
cp a b
cp -r src build
cp a /tmp/x
cp ~/.bashrc backup.txt
tee out.log
tee /dev/null
tee /dev/stderr
touch a
mkdir -p build/a
dd if=a of=b
dd if=/dev/sda of=/tmp/x
chmod +x run.sh
chmod -R u+w build
chown -R x build
sed 's/.env/x/' a
sed -i 's/.git/x/' a
sed -i 's/a/b/' src/main.py
npm run format
npm run format:check
clang-format -n a.c
git commit -m 'chmod -R 777 /'
git config user.name x
git config --get core.pager
git config --unset core.pager
git config alias.co checkout
echo 'rm -rf /'
grep -rn 'rm -rf /' src
curl -o out.html http://x
crontab -l
fdisk -l
wipefs /dev/sda
sudo ls
sudo systemctl restart x
""".strip().splitlines()


@pytest.mark.parametrize("text", DANGEROUS)
def test_a_dangerous_command_asks_whatever_the_rules(at: Home, text: str) -> None:
    assert at.why(text) is not None


@pytest.mark.parametrize("text", ORDINARY)
def test_an_ordinary_command_is_left_to_the_rules(at: Home, text: str) -> None:
    assert at.why(text) is None


def test_the_directory_decides_what_a_relative_path_is(at: Home) -> None:
    assert at.why("rm -rf *", cwd=at.work + "/src") is None
    assert at.why("rm -rf ..", cwd=at.work + "/src") == "it removes the working directory"
    assert at.why("cp a hooks/pre-commit", cwd=at.work + "/.git") is not None
    assert at.why("rm -rf ./*", cwd="/") == "it removes all in the root directory"


def test_where_the_directory_is_unknown_all_of_it_is_too_much(at: Home) -> None:
    assert at.why("rm -rf ./*", cwd=None) is not None
    assert at.why("rm -rf .", cwd=None) is not None
    assert at.why("cp evil .git/hooks/pre-commit", cwd=None) is not None
    assert at.why("rm -rf build", cwd=None) is None


def test_a_removal_behind_a_wrapper_of_privilege_asks(at: Home) -> None:
    assert at.why("rm x", wrapped=("sudo",)) == "rm runs with another user's privileges"
    assert at.why("rm x", wrapped=("timeout", "nice")) is None
    assert at.why("rm -rf /", wrapped=("timeout",)) == "it removes the root directory"


def test_the_inside_of_a_wrapper_is_judged_where_its_place_is_known(at: Home) -> None:
    argv = tuple(Word(text, text) for text in ("sudo", "-u", "x", "cp", "evil", at.home + "/.bashrc"))
    assert safety(CommandUnit(argv=argv, cwd=at.work, inner_at=3), home=at.home, workspace=[at.work]) is not None


def test_a_reason_is_a_sentence_about_the_thing(at: Home) -> None:
    assert at.why("rm -rf ~") == "it removes the home directory"
    assert at.why("dd if=/dev/zero of=/dev/sda") == "it writes to the device /dev/sda"
    assert at.why("rm -rf $X/*") == "if the expansion in it is empty, it removes /"


def test_no_command_makes_it_raise(at: Home) -> None:
    odd = [
        Word("", ""),
        Word(None, ""),
        Word("\0", "x"),
        Word("~", "'~'"),
        Word("--", "--"),
        Word("-t", "-t"),
        Word("\udcff", ""),
    ]
    for name in ("rm", "cp", "mv", "dd", "find", "git", "sed", "chmod", "tar", "sudo", "crontab", "rsync", "tee", ""):
        for count in range(len(odd)):
            unit = CommandUnit(argv=(Word(name, name), *odd[count:], *odd[:count]), cwd=None)
            safety(unit, home=None, workspace=[])
    assert safety(CommandUnit(argv=()), home=None, workspace=[]) is None
